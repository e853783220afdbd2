/** What is read of other processes, on every platform, from texts; and who of them belongs to an attempt. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePlatformId } from '../../server/run/host.ts';
import { groupMembers, treeMembers } from '../../server/run/group.ts';
import { countStill, judge, whereabouts } from '../../server/run/judge.ts';
import { parsePowerShell, parsePs, parseStat, startedNoEarlier } from '../../server/run/processes.ts';
import type { ProcessInfo } from '../../server/run/processes.ts';
import { sessionLeaders } from '../../server/run/reaper.ts';

const STAT = (name: string, state = 'S') =>
  `4242 (${name}) ${state} 17 4242 4200 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 987654 2500000 200 18446744073709551615 1\n`;

test('/proc/PID/stat, whatever the program is called', () => {
  for (const name of ['sh', 'a b', 'evil) Z 1 1 1', '((', ') (', '']) {
    assert.deepEqual(
      parseStat(STAT(name)),
      { pid: 4242, parent: 17, group: 4242, session: 4200, zombie: false, startTime: '987654' },
      name,
    );
  }
  assert.equal(parseStat(STAT('sh', 'Z'))?.zombie, true);
  assert.equal(parseStat(STAT('sh', 'T'))?.zombie, false);
  for (const broken of ['', '42', '42 (sh)', '42 (sh) S 1 2', STAT('sh').slice(0, 40)]) {
    assert.equal(parseStat(broken), null, broken);
  }
});

test('ps of macOS', () => {
  const text = `    1     0     1 Ss   Mon Nov 30 09:01:02 2026
  501     1   501 Z+   Tue Dec  1 10:11:12 2026
 9999   501   501 S    Tue Dec  1 10:11:13 2026
garbage
  502     1   502 S    no date at all
`;
  assert.deepEqual(parsePs(text), [
    {
      pid: 1,
      parent: 0,
      group: 1,
      session: 0,
      zombie: false,
      startTime: String(Date.UTC(2026, 10, 30, 9, 1, 2) / 1000),
    },
    {
      pid: 501,
      parent: 1,
      group: 501,
      session: 0,
      zombie: true,
      startTime: String(Date.UTC(2026, 11, 1, 10, 11, 12) / 1000),
    },
    {
      pid: 9999,
      parent: 501,
      group: 501,
      session: 0,
      zombie: false,
      startTime: String(Date.UTC(2026, 11, 1, 10, 11, 13) / 1000),
    },
  ]);
});

test('the process list of Windows, and the hardware id of macOS', () => {
  assert.deepEqual(parsePowerShell('4 0 134123456789012345\r\n\r\nnothing\r\n900 4 134123456789099999\r\n'), [
    { pid: 4, parent: 0, group: 0, session: 0, zombie: false, startTime: '134123456789012345' },
    { pid: 900, parent: 4, group: 0, session: 0, zombie: false, startTime: '134123456789099999' },
  ]);
  assert.ok(startedNoEarlier('134123456789012346', '134123456789012345'), 'beyond what a double can tell apart');
  assert.equal(parsePlatformId('  | {\n  "IOPlatformUUID" = "0A1B-2C"\n }'), '0A1B-2C');
  assert.equal(parsePlatformId('nothing of the kind'), null);
});

const info = (pid: number, more: Partial<ProcessInfo> = {}): ProcessInfo => ({
  pid,
  parent: 1,
  group: 100,
  session: 100,
  zombie: false,
  startTime: '50',
  ...more,
});
const leader = { pid: 100, startTime: '50', own: false };
const pids = (members: ProcessInfo[]) => members.map(({ pid }) => pid);

test('the members of a group', () => {
  const cases: [
    string,
    ProcessInfo[],
    typeof leader | (Omit<typeof leader, 'startTime'> & { startTime: null }),
    number[],
  ][] = [
    ['leader and child', [info(100), info(101), info(7, { group: 7, session: 7 })], leader, [100, 101]],
    ['a group of its own inside the session', [info(100), info(101, { group: 101 })], leader, [100, 101]],
    ['what called setsid has left', [info(100), info(101, { group: 101, session: 101 })], leader, [100]],
    ['only zombies', [info(100, { zombie: true }), info(101, { zombie: true })], leader, []],
    ['a zombie leader and a living child', [info(100, { zombie: true }), info(101)], leader, [101]],
    ['leader gone, child living', [info(101, { startTime: '60' })], leader, [101]],
    ['a stranger has the pid', [info(100, { startTime: '99' }), info(101, { startTime: '99' })], leader, []],
    ['leader gone, members older than the attempt', [info(101, { startTime: '49' })], leader, []],
    ['nothing', [], leader, []],
    ['start unknown, not ours to judge', [info(100)], { ...leader, startTime: null }, []],
    ['start unknown, but spawned here', [info(100), info(101)], { ...leader, startTime: null, own: true }, [100, 101]],
  ];
  for (const [name, all, who, expected] of cases) assert.deepEqual(pids(groupMembers(all, who)), expected, name);
});

test('the tree of a process, where there are no groups', () => {
  const all = [
    info(100),
    info(101, { parent: 100, startTime: '51' }),
    info(102, { parent: 101, startTime: '52' }),
    // Its parent's number was reused: it is older than that parent.
    info(103, { parent: 101, startTime: '40' }),
    info(104),
  ];
  assert.deepEqual(pids(treeMembers(all, leader)), [100, 101, 102]);
  assert.deepEqual(pids(treeMembers(all.slice(1), leader)), [101, 102], 'the root is gone');
  assert.deepEqual(pids(treeMembers([info(100, { startTime: '99' })], leader)), []);
});

test('lost processes are told apart by session, dated by their oldest', () => {
  const found = [info(103, { startTime: '60' }), info(101, { startTime: '55' }), info(200, { session: 200 })];
  assert.deepEqual(sessionLeaders(found), [
    { pid: 200, startTime: '50', own: false },
    { pid: 100, startTime: '55', own: false },
  ]);
});

test('who is gone', () => {
  const here = { host: 'h', bootId: 'b', pidNamespace: 'n' };
  const worker = { ...here, startTime: '50' };
  const alive = info(9);
  const cases: [string, Parameters<typeof judge>, ReturnType<typeof judge>][] = [
    ['lives and beats', [worker, here, alive, 0, 6], 'alive'],
    ['no process', [worker, here, null, 0, 6], 'gone'],
    ['a zombie', [worker, here, info(9, { zombie: true }), 0, 6], 'gone'],
    ['another process has its pid', [worker, here, info(9, { startTime: '51' }), 0, 6], 'gone'],
    ['start never known', [{ ...worker, startTime: null }, here, alive, 0, 6], 'alive'],
    ['still for less than a lease', [worker, here, alive, 5, 6], 'alive'],
    ['still for a lease', [worker, here, alive, 6, 6], 'hung'],
    ['another boot', [{ ...worker, bootId: 'x', pidNamespace: 'y' }, here, alive, 0, 6], 'other_boot'],
    ['another host', [{ ...worker, host: 'x' }, here, null, 9, 6], 'elsewhere'],
    ['another host and boot', [{ ...worker, host: 'x', bootId: 'x' }, here, null, 9, 6], 'elsewhere'],
    ['another namespace', [{ ...worker, pidNamespace: 'x' }, here, null, 9, 6], 'elsewhere'],
  ];
  for (const [name, args, verdict] of cases) assert.equal(judge(...args), verdict, name);
  assert.equal(whereabouts(here, here), 'here');
});

test("a lease is counted in the reaper's own beats", () => {
  let pulses = countStill(new Map(), [{ id: 'a', heartbeats: 3 }]);
  for (const [heartbeats, still] of [
    [3, 1],
    [3, 2],
    [4, 0],
    [4, 1],
  ] as const) {
    pulses = countStill(pulses, [{ id: 'a', heartbeats }]);
    assert.equal(pulses.get('a')?.still, still);
  }
  assert.equal(countStill(pulses, []).size, 0);
});
