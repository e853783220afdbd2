/** What may come next on a command line, decided from the declarations alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type Known, type Wanted, wanted } from '../../client/cli/completion/candidates.ts';
import { wordsOf } from '../../client/cli/completion/words.ts';
import { VERBS, loadVerb, verbName } from '../../client/cli/verbs/index.ts';
import { quoteArgv } from '../../shared/shell.ts';

const known: Known = {
  verbs: Object.entries(VERBS).map(([name, { aliases = [] }]) => ({ names: [name, ...aliases], summary: name })),
  async load(word) {
    const name = verbName(word);
    return name === null ? null : loadVerb(name);
  },
};
const values = ({ candidates, prefix }: Wanted): string[] => candidates.map(({ value }) => prefix + value);

describe('completion', () => {
  it('offers verbs, flags, values and second words', async () => {
    const table: [string[], string[]][] = [
      [[''], ['add', 'list', 'ls', 'workspaces', 'help']],
      [
        ['--json', ''],
        ['add', 'cancel'],
      ],
      [['--workspace', '/x', 'ca'], ['cancel']],
      [
        ['help', ''],
        ['add', 'logs'],
      ],
      [
        ['list', '--'],
        ['--state', '--lane', '--queue', '--json', '--workspace'],
      ],
      [
        ['list', '--state', ''],
        ['queued', 'failed', 'succeeded'],
      ],
      [['list', '--state', 'queued,'], ['queued,running']],
      [['list', '--state=queued,'], ['--state=queued,running']],
      [
        ['lanes', ''],
        ['set', 'remove'],
      ],
      [
        ['lanes', 'set', 'build', '--pause-on-failure', ''],
        ['true', 'false'],
      ],
      [
        ['completion', ''],
        ['bash', 'zsh', 'fish', 'powershell'],
      ],
      [
        ['add', '--on-need-failure', ''],
        ['cancel', 'dead', 'release'],
      ],
    ];
    for (const [words, expected] of table) {
      const offered = values(await wanted(words, known));
      for (const value of expected) assert.ok(offered.includes(value), `${words.join(' ')} → ${value}`);
    }
  });

  it('knows what only the queue or the shell can complete', async () => {
    const table: [string[], Partial<Wanted>][] = [
      [['show', ''], { from: 'jobs' }],
      [['cancel', '12', ''], { from: 'live' }],
      [['cancel', '--lane', 'build', ''], { from: 'live' }],
      [['retry', '--force', ''], { from: 'dead' }],
      [['bump', ''], { from: 'waiting' }],
      [['pause', ''], { from: 'lanes' }],
      [['lanes', 'set', ''], { from: 'lanes' }],
      [['list', '--lane', ''], { from: 'lanes', prefix: '' }],
      [['list', '--queue=b'], { from: 'lanes', prefix: '--queue=' }],
      [['add', '--needs', '1,'], { from: 'jobs', prefix: '1,' }],
      [['add', '--cwd', ''], { shell: 'folders' }],
      [['add', '--', ''], { shell: 'command' }],
      [['run', '--lane', 'a', '--', 'npm', ''], { shell: 'files' }],
      [['workspaces', 'move', ''], { shell: 'folders' }],
      [['show', '--', ''], { shell: null, from: null }],
      [['nonsense', ''], { shell: null, from: null, candidates: [] }],
    ];
    for (const [words, expected] of table) {
      const got = await wanted(words, known);
      for (const [name, value] of Object.entries(expected)) {
        assert.deepEqual(got[name as keyof Wanted], value, `${words.join(' ')}: ${name}`);
      }
    }
  });

  it('reads the words of an unfinished line', () => {
    const table: [string, string[]][] = [
      ['lane ', ['lane', '']],
      ['lane sh', ['lane', 'sh']],
      ['lane show label:"my j', ['lane', 'show', 'label:my j']],
      ["lane add -- echo 'a b' c\\ ", ['lane', 'add', '--', 'echo', 'a b', 'c ']],
      ['lane add \\', ['lane', 'add', '']],
    ];
    for (const [line, words] of table) assert.deepEqual(wordsOf(line), words, line);
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', ' ', "'", '"', '\\', '$') })), (words) => {
        assert.deepEqual(wordsOf(`${quoteArgv(words)} `), [...words, '']);
      }),
    );
  });
});
