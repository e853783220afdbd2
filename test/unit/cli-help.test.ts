/**
 * The help of every verb against test/fixtures/help/*.txt, and docs/cli.md against the declarations.
 * After a change that is meant: UPDATE=1 node --test test/unit/cli-help.test.ts
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { flagNames, parseArgs } from '../../client/cli/args.ts';
import { overview, verbHelp } from '../../client/cli/help.ts';
import { GLOBAL_FLAGS, type Terminal } from '../../client/cli/verb.ts';
import { VERBS, loadVerb } from '../../client/cli/verbs/index.ts';
import { displayWidth } from '../../shared/text.ts';
import { parsePosix } from '../../shared/shell.ts';

const fixtures = path.resolve(import.meta.dirname, '../fixtures/help');
const reference = path.resolve(import.meta.dirname, '../../docs/cli.md');
const names = Object.keys(VERBS).filter((name) => VERBS[name]?.hidden !== true);
const terminal: Terminal = { isTty: false, progress: false, interactive: false, colour: false, columns: 80 };

function golden(name: string, text: string): void {
  const file = path.join(fixtures, `${name}.txt`);
  if (process.env['UPDATE']) fs.writeFileSync(file, text);
  assert.equal(text, fs.readFileSync(file, 'utf8'), `${file} differs; if that is meant, run with UPDATE=1`);
}

describe('help', () => {
  it('of every verb is as approved, with examples, within 80 columns', async () => {
    for (const name of names) {
      const verb = await loadVerb(name);
      assert.equal(verb.name, name);
      assert.ok(verb.examples.length > 0, `${name} has examples`);
      assert.doesNotMatch(verb.summary, /\.$/);
      const text = verbHelp(verb, terminal);
      for (const line of text.split('\n')) assert.ok(displayWidth(line) <= 80, `${name}: ${line}`);
      golden(name, text);
    }
    golden('overview', await overview(terminal));
  });

  it('has no page for a verb that is gone', () => {
    assert.deepEqual(fs.readdirSync(fixtures).sort(), [...names, 'overview'].map((name) => `${name}.txt`).sort());
  });

  it('gives examples that parse', async () => {
    for (const name of names) {
      const verb = await loadVerb(name);
      for (const { line } of verb.examples) {
        const command = /(?:^|[(|] *)lane\b(?<args>[^|>)]*)/.exec(line)?.groups?.['args'];
        assert.ok(command !== undefined, `${name}: ${line}`);
        const args = parsePosix(command).argv;
        const verbAt = args.findIndex((arg) => arg === name || verb.aliases?.includes(arg));
        parseArgs({ ...GLOBAL_FLAGS, ...verb.flags }, args.slice(verbAt + 1));
      }
    }
  });
});

describe('docs/cli.md', () => {
  it('names every verb with every flag, and no flag that does not exist', async () => {
    const text = fs.readFileSync(reference, 'utf8');
    const sections = new Map(
      text
        .split(/^### /m)
        .slice(1)
        .map((part) => [/^`?lane (\S+?)`?\s/.exec(part)?.[1] ?? '', part]),
    );
    assert.deepEqual([...sections.keys()], names, 'one section a verb, in the order of help');
    for (const name of names) {
      const verb = await loadVerb(name);
      const section = sections.get(name) ?? '';
      const known = new Set(flagNames({ ...GLOBAL_FLAGS, ...verb.flags }).keys());
      for (const flag of flagNames(verb.flags).keys()) {
        assert.ok(
          section.includes(`\`${flag}`) || section.includes(`, ${flag}`),
          `lane ${name}: ${flag} is not in docs/cli.md`,
        );
      }
      for (const [flag] of section.matchAll(/(?<=`|, )--[a-z][a-z-]*/g))
        assert.ok(known.has(flag), `lane ${name} has no ${flag}`);
      for (const alias of verb.aliases ?? []) assert.ok(section.includes(`lane ${alias}`), `lane ${alias}`);
    }
    for (const flag of flagNames(GLOBAL_FLAGS).keys()) assert.ok(text.includes(`\`${flag}`), flag);
  });
});
