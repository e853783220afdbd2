/** Stopping a group: the order of signals, who gets them, and when it counts as gone. No real process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stopGroup } from '../../server/run/group.ts';
import type { GroupTools } from '../../server/run/group.ts';
import { createProcesses } from '../../server/run/processes.ts';
import type { ProcessInfo } from '../../server/run/processes.ts';

interface World {
  tools: GroupTools;
  /** Signals and tools, in order: `TERM -100`, `taskkill 100`. */
  sent: string[];
  log: string[];
}

const member = (pid: number, more: Partial<ProcessInfo> = {}): ProcessInfo => ({
  pid,
  parent: 1,
  group: 100,
  session: 100,
  zombie: false,
  startTime: '50',
  ...more,
});

/** `react` sees each signal and may change the list of processes. */
function world(all: ProcessInfo[], react: (what: string) => void, platform: NodeJS.Platform = 'linux'): World {
  const sent: string[] = [];
  const log: string[] = [];
  let ticks = 0;
  const tell = (what: string) => {
    sent.push(what);
    react(what);
  };
  return {
    sent,
    log,
    tools: {
      platform,
      // Each look at the clock is a while later, so that no test waits for a grace.
      clock: { now: () => 0, ticks: () => (ticks += 10) },
      processes: {
        find: (pid) => Promise.resolve(all.find((info) => info.pid === pid) ?? null),
        list: () => Promise.resolve([...all]),
        marked: () => [],
      },
      tool: (file, args) => {
        tell(`${file} ${args[1]}`);
        return Promise.resolve('');
      },
      kill: (pid, signal) => tell(`${signal.slice(3)} ${pid}`),
      log: (message) => log.push(message),
    },
  };
}
const leader = { pid: 100, startTime: '50', own: false };
const remove = (all: ProcessInfo[], ...pids: number[]) => {
  for (const pid of pids) {
    const at = all.findIndex((info) => info.pid === pid);
    if (at >= 0) all.splice(at, 1);
  }
};

test('nothing is sent to a group that is gone, nor to a stranger with its number', async () => {
  for (const all of [[], [member(100, { zombie: true })], [member(100, { startTime: '99' }), member(101)]]) {
    const { tools, sent } = world(all, () => undefined);
    let signalled = false;
    await stopGroup(leader, { graceMs: 0, onSignal: () => (signalled = true) }, tools);
    assert.deepEqual([sent, signalled], [[], false]);
  }
});

test('TERM once to the group and to who left it inside the session, KILL after the grace, until it is gone', async () => {
  const all = [member(100), member(101), member(102, { group: 102 })];
  let kills = 0;
  const { tools, sent } = world(all, (what) => {
    if (what === 'TERM -100') remove(all, 101);
    if (what === 'KILL -100' && (kills += 1) === 2) remove(all, 100, 102);
  });
  await stopGroup(leader, { graceMs: 25 }, tools);
  assert.deepEqual(sent.slice(0, 4), ['TERM -100', 'TERM 102', 'CONT -100', 'CONT 102']);
  assert.deepEqual(sent.slice(4), ['KILL -100', 'KILL 102', 'KILL -100', 'KILL 102']);
});

test('with the leader dead only its own members are signalled, one by one', async () => {
  const all = [
    member(101, { startTime: '60' }),
    member(7, { startTime: '10' }),
    member(300, { group: 300, session: 300 }),
  ];
  const { tools, sent } = world(all, (what) => {
    if (what === 'TERM 101') remove(all, 101);
  });
  await stopGroup(leader, { graceMs: 1000 }, tools);
  assert.deepEqual(sent, ['TERM 101', 'CONT 101']);
});

test('what may not be signalled, or cannot be looked at, is not taken for gone', async () => {
  const all = [member(100)];
  let tries = 0;
  const { tools, log } = world(all, (what) => {
    if (what.startsWith('KILL') && (tries += 1) === 3) remove(all, 100);
    throw Object.assign(new Error('no'), { code: what.startsWith('KILL') ? 'EPERM' : 'ESRCH' });
  });
  const list = tools.processes.list.bind(tools.processes);
  let looks = 0;
  tools.processes.list = () => ((looks += 1) === 1 ? Promise.reject(new Error('EMFILE')) : list());
  await stopGroup(leader, { graceMs: 0 }, tools);
  assert.equal(tries, 3);
  assert.match(log.join('\n'), /cannot list processes: EMFILE[\s\S]*cannot send SIGKILL to -100: EPERM/);
});

test('whoever lost the attempt signals nothing more', async () => {
  const all = [member(100)];
  let over = false;
  const { tools, sent } = world(all, () => (over = true));
  await stopGroup(leader, { graceMs: 0, isOver: () => over }, tools);
  assert.deepEqual(sent, ['TERM -100', 'CONT -100']);
});

test('Windows ends the tree at once', async () => {
  const all = [member(100), member(101, { parent: 100, startTime: '51' }), member(9, { parent: 4 })];
  const { tools, sent } = world(
    all,
    (what) => {
      if (what === 'taskkill 100') remove(all, 100);
      if (what === 'KILL 101') remove(all, 101);
    },
    'win32',
  );
  await stopGroup(leader, { graceMs: 1000 }, tools);
  assert.deepEqual(sent, ['taskkill 100', 'KILL 100', 'KILL 101']);
});

test('macOS asks ps, in a fixed language and time zone; Windows asks PowerShell', async () => {
  const asked: [string, string[], Record<string, string> | null][] = [];
  const answering = (text: string) => (file: string, args: string[], extra: Record<string, string> | null) => {
    asked.push([file, args, extra]);
    return Promise.resolve(text);
  };
  const mac = createProcesses('darwin', answering('  7     1     7 S    Tue Dec  1 10:11:12 2026\n'));
  assert.equal((await mac.find(7))?.group, 7);
  assert.equal(await mac.find(8), null);
  assert.equal((await mac.list()).length, 1);
  const windows = createProcesses('win32', answering('7 1 134123456789012345\r\n'));
  assert.equal((await windows.find(7))?.startTime, '134123456789012345');
  assert.deepEqual(
    asked.map(([file, , extra]) => [file, extra]),
    [...Array.from({ length: 3 }, () => ['ps', { LC_ALL: 'C', TZ: 'UTC' }]), ['powershell.exe', null]],
  );
});
