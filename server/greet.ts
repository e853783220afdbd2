/** Who may speak with this server: decided by the protocol number and by nothing else. */
import type { ErrorData } from '../shared/errors.ts';
import type { Hello, Mismatch } from '../shared/protocol.ts';

export type Verdict =
  | { fits: true }
  /** `finish`: a newer client wants a server of its own; make room for it. */
  | { fits: false; error: ErrorData; finish: boolean };

/** @param running jobs that this server would still wait for. */
export function judgeHello(hello: unknown, own: { protocol: number; version: string; running: number }): Verdict {
  const { protocol, version } = readHello(hello);
  if (protocol === null) {
    const message = 'the client did not introduce itself: initializationOptions lack "protocol"';
    return { fits: false, error: { code: 'INVALID_INPUT', message, hint: null }, finish: false };
  }
  if (protocol === own.protocol) return { fits: true };
  const newer = protocol > own.protocol;
  const error: Mismatch = {
    code: 'VERSION_MISMATCH',
    message: `client ${version} speaks protocol ${protocol}, server ${own.version} speaks protocol ${own.protocol}`,
    hint: newer
      ? `the older server ends when its ${own.running} running job(s) have; then try again`
      : `install Laneway ${own.version} or newer, then try again`,
    protocol: own.protocol,
    version: own.version,
    running: own.running,
  };
  return { fits: false, error, finish: newer };
}

function readHello(hello: unknown): { protocol: number | null; version: string } {
  const { protocol, version } = (typeof hello === 'object' && hello !== null ? hello : {}) as Partial<Hello>;
  return {
    protocol: typeof protocol === 'number' && Number.isSafeInteger(protocol) ? protocol : null,
    version: typeof version === 'string' ? version.slice(0, 40) : 'of an unknown version',
  };
}
