/** Where this process runs: a pid recorded elsewhere says nothing here. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { HostIdentity, ProcessIdentity } from '../store/api.ts';
import type { Processes } from './processes.ts';
import type { RunTool } from './tool.ts';

/**
 * This host, boot and pid namespace. On macOS the hardware's own id stands for the host, since the
 * hostname changes with the network. Windows has no boot id; the boot's time to the minute serves.
 */
export async function readHost(platform: NodeJS.Platform, tool: RunTool): Promise<HostIdentity> {
  switch (platform) {
    case 'linux':
      return {
        host: hostname(),
        bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
        pidNamespace: readlinkSync('/proc/self/ns/pid'),
      };
    case 'win32':
      return { host: hostname(), bootId: (await tool('powershell.exe', BOOT_TIME, null)).trim(), pidNamespace: '' };
    default: {
      const registry = await tool('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], null);
      const boot = await tool('sysctl', ['-n', 'kern.bootsessionuuid'], null);
      return { host: parsePlatformId(registry) ?? hostname(), bootId: boot.trim(), pidNamespace: '' };
    }
  }
}

const BOOT_TIME = [
  '-NoProfile',
  '-NonInteractive',
  '-Command',
  '(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToUniversalTime().ToString("yyyy-MM-ddTHH:mm")',
];

/** The hardware id in `ioreg -rd1 -c IOPlatformExpertDevice`. */
export function parsePlatformId(text: string): string | null {
  return /"IOPlatformUUID"\s*=\s*"([0-9A-Fa-f-]+)"/.exec(text)?.[1] ?? null;
}

/** This process, as others will look for it. */
export async function ownIdentity(pid: number, processes: Processes): Promise<ProcessIdentity> {
  return { pid, startTime: (await processes.find(pid))?.startTime ?? null };
}
