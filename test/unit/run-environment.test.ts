/** The environment of a job. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobEnvironment, withoutEditorRequire } from '../../server/run/environment.ts';
import type { Claimed } from '../../server/store/api.ts';

const claimed = (env: Record<string, string>): Claimed => ({
  jobId: 7,
  attempt: 2,
  workerId: 'w',
  fence: 5,
  lane: 'builds',
  argv: ['true'],
  cwd: '/',
  env,
  umask: 0o022,
  timeoutMs: null,
  cancelGraceMs: 1000,
  split: false,
  idempotencyKey: 'i:7',
});
const paths = { workspace: '/w', home: '/h', logs: '/l', laneFolder: '/opt/lane' };

test('it is the captured one plus the marks of this attempt, which an outer job cannot shine through', () => {
  const env = { PATH: '/bin', FOO: '', LANEWAY_JOB_ID: '1', LANEWAY_FENCE: '9', LANEWAY_RUNTIME: '/run/x' };
  assert.deepEqual(jobEnvironment(claimed(env), paths, 'linux'), {
    PATH: '/opt/lane:/bin',
    FOO: '',
    LANEWAY_RUNTIME: '/run/x',
    LANEWAY_JOB_ID: '7',
    LANEWAY_ATTEMPT: '2',
    LANEWAY_FENCE: '5',
    LANEWAY_WORKER: 'w',
    LANEWAY_LANE: 'builds',
    LANEWAY_IDEMPOTENCY_KEY: 'i:7',
    LANEWAY_WORKSPACE: '/w',
    LANEWAY_HOME: '/h',
  });
});

test('PATH begins with the folder of lane, once, on every platform', () => {
  const path = (env: Record<string, string>, platform: NodeJS.Platform) => {
    const { PATH, Path } = jobEnvironment(claimed(env), paths, platform);
    return PATH ?? Path;
  };
  assert.equal(path({ PATH: '/opt/lane:/bin' }, 'linux'), '/opt/lane:/bin');
  assert.equal(path({ PATH: '/opt/lanes:/bin' }, 'linux'), '/opt/lane:/opt/lanes:/bin');
  assert.equal(path({}, 'linux'), '/opt/lane:/usr/local/bin:/usr/bin:/bin');
  assert.equal(path({ Path: 'C:\\Windows' }, 'win32'), '/opt/lane;C:\\Windows');
  assert.equal(path({}, 'win32'), '/opt/lane');
  assert.equal(jobEnvironment(claimed({ PATH: '/bin' }), { ...paths, laneFolder: null }, 'linux')['PATH'], '/bin');
});

test("the editor's internals stay out; a person's own settings of the same kind stay in", () => {
  const askpass = '/usr/share/code/resources/app/extensions/git/dist/askpass.sh';
  const bootloader = '/home/me/.vscode/extensions/ms-vscode.js-debug/src/bootloader.js';
  const kept = (env: Record<string, string>) => {
    const all = jobEnvironment(claimed(env), { ...paths, laneFolder: null }, 'linux');
    return Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith('LANEWAY_')));
  };
  const cases: [Record<string, string>, Record<string, string>][] = [
    [{ ELECTRON_RUN_AS_NODE: '1', VSCODE_IPC_HOOK: '/x', VSCODE_GIT_ASKPASS_NODE: '/n' }, {}],
    [{ GIT_ASKPASS: askpass }, {}],
    [{ GIT_ASKPASS: '/home/me/bin/askpass' }, { GIT_ASKPASS: '/home/me/bin/askpass' }],
    [{ GIT_EDITOR: `"${askpass.replace('askpass', 'git-editor')}"` }, {}],
    [
      { TERM_PROGRAM: 'vscode', EDITOR: 'code' },
      { TERM_PROGRAM: 'vscode', EDITOR: 'code' },
    ],
    [{ NODE_OPTIONS: `--require ${bootloader}` }, {}],
    [
      { NODE_OPTIONS: `--max-old-space-size=99 --require "${bootloader}" --inspect` },
      { NODE_OPTIONS: '--max-old-space-size=99 --inspect' },
    ],
  ];
  for (const [env, expected] of cases) assert.deepEqual(kept(env), expected);
});

test('NODE_OPTIONS of a person are left exactly as they are', () => {
  const mine = ' --require ./mine.js  --import="tsx" -r "a b.js" ';
  assert.equal(withoutEditorRequire(mine), mine);
  assert.equal(withoutEditorRequire('--require=/x/ms-vscode.js-debug/b.js -r ./mine.js'), '-r ./mine.js');
  assert.equal(withoutEditorRequire('--require "C:\\\\Users\\\\a b\\\\.vscode\\\\x.js" --inspect'), '--inspect');
});
