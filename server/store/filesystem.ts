/**
 * SQLite's locks and its shared memory hold on a local file system only: over a network two machines
 * may both believe that they own the queue. Such a place is refused, and a doubtful one is warned about.
 */
import { LanewayError } from '../../shared/errors.ts';

/** Linux `statfs` magic numbers. Other platforms number their file systems at run time. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS (SMB)'],
  [0xfe534d42, 'SMB2'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x564c, 'NCP'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd3, 'Lustre'],
]);
const DOUBTFUL: ReadonlyMap<number, string> = new Map([
  [0x01021997, '9p, a folder shared by a host'],
  [0x65735546, 'FUSE, which may lie on another machine'],
]);

const HINT = 'Point LANEWAY_HOME to a folder on a local disk, e.g. LANEWAY_HOME=/var/tmp/$USER-laneway';

export type Ground = { kind: 'local' } | { kind: 'doubtful' | 'network'; name: string };

/** What a file system type, as `statfs` gives it, means for a database. */
export function judgeFilesystem(type: number, platform: NodeJS.Platform): Ground {
  if (platform !== 'linux') return { kind: 'local' };
  const magic = type >>> 0;
  const network = NETWORK.get(magic);
  if (network !== undefined) return { kind: 'network', name: network };
  const doubtful = DOUBTFUL.get(magic);
  return doubtful === undefined ? { kind: 'local' } : { kind: 'doubtful', name: doubtful };
}

/** @throws REFUSED for a network file system; tells `warn` of a doubtful one. */
export function checkFilesystem(folder: string, ground: Ground, warn: (message: string) => void): void {
  if (ground.kind === 'local') return;
  if (ground.kind === 'network') {
    throw new LanewayError(
      'REFUSED',
      `the queue's folder ${folder} lies on a network file system (${ground.name}), where locks do not hold`,
      HINT,
    );
  }
  warn(`the queue's folder ${folder} lies on ${ground.name}: locks may not hold there; ${HINT}`);
}
