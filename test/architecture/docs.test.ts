/**
 * The pages say what is there: links lead somewhere, tests that a page names exist under that name, and every verb
 * and flag of `lane` on a page is declared.
 *
 * A page names a test as a link to its file followed by its name: [store/claim](../test/store/claim.test.ts) “name”,
 * and more names of the same file after a comma.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { flagNames } from '../../client/cli/args.ts';
import { GLOBAL_FLAGS } from '../../client/cli/verb.ts';
import { loadVerb, VERBS, verbName } from '../../client/cli/verbs/index.ts';
import { parsePosix } from '../../shared/shell.ts';

const root = path.resolve(import.meta.dirname, '../..');
const PAGES = [
  ...fs.readdirSync(root).filter((name) => name.endsWith('.md')),
  ...fs.readdirSync(path.join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];
const read = (page: string): string => fs.readFileSync(path.join(root, page), 'utf8');

/** Blocks of code, and code within lines. */
function codeOf(page: string): { blocks: string[]; spans: string[]; prose: string } {
  const text = read(page);
  const fence = /^ *```[^\n]*\n([\s\S]*?)^ *```$/gm;
  const prose = text.replaceAll(fence, '');
  return {
    blocks: [...text.matchAll(fence)].map(([, block = '']) => block),
    spans: [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span.replaceAll('\\|', '|')),
    prose,
  };
}

describe('links', () => {
  for (const page of PAGES) {
    it(`of ${page} lead somewhere`, () => {
      const { prose } = codeOf(page);
      const targets = [
        ...[...prose.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
        ...[...prose.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(([, target = '']) => target),
      ];
      for (const target of targets) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file = '', anchor] = target.split('#');
        const found = file === '' ? path.join(root, page) : path.resolve(root, path.dirname(page), file);
        assert.ok(fs.existsSync(found), `${target} is no file`);
        if (anchor !== undefined) assert.ok(anchors(found).includes(anchor), `${target}: there is no such heading`);
      }
    });
  }
});

function anchors(file: string): string[] {
  return [...fs.readFileSync(file, 'utf8').matchAll(/^#+ +(.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('tests that a page names', () => {
  for (const page of PAGES) {
    const named = [...read(page).matchAll(/\]\(([^)]*\.test\.ts)\)((?:,? *“[^”]+”)*)/g)];
    if (named.length === 0) continue;
    it(`are there: ${page}`, () => {
      for (const [, link = '', names = ''] of named) {
        const file = path.resolve(root, path.dirname(page), link);
        const known = namesIn(fs.readFileSync(file, 'utf8'));
        for (const [, name = ''] of names.matchAll(/“([^”]+)”/g)) {
          assert.ok(
            known.some((pattern) => pattern.test(name)),
            `${link} has no test “${name}”`,
          );
        }
      }
    });
  }

  it('are named on every row of docs/seeds.md', () => {
    const rows = read('docs/seeds.md')
      .split('\n')
      .filter((line) => /^\| \w+\d+ \|/.test(line));
    assert.ok(rows.length > 50, 'there are rows');
    for (const row of rows) assert.match(row, /\.test\.ts\) “/, row);
  });
});

/** Names of tests: literals, some of them rows of a table, and templates, which match what can come of them. */
function namesIn(source: string): RegExp[] {
  const literals = source.matchAll(/'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\\n]|\\.)+)`/g);
  return [...literals].flatMap(([, single, double, template]) => {
    const text = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1');
    const parts = template === undefined ? [text] : text.split(/\$\{[^}]*\}/);
    // A template that is hardly more than its holes would match everything.
    if (parts.length > 1 && parts.join('').length < 8) return [];
    return [new RegExp(`^${parts.map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('.*')}$`)];
  });
}

describe('verbs and flags', () => {
  for (const page of PAGES) {
    it(`of ${page} are declared`, async () => {
      const { blocks, spans } = codeOf(page);
      const commands = [...blocks.flatMap(commandsOfBlock), ...spans.flatMap(commandsOfLine)];
      for (const command of commands) await assertDeclared(command);
      if (page === 'README.md') assert.ok(commands.length > 30, `only ${commands.length} commands were found`);
      const all = new Set<string>();
      for (const name of Object.keys(VERBS)) {
        const { flags } = await loadVerb(name);
        for (const flag of flagNames({ ...GLOBAL_FLAGS, ...flags }).keys()) all.add(flag);
      }
      if (page !== 'README.md' && !page.startsWith('docs/')) return;
      for (const span of spans) {
        const flag = /^--[a-z][a-z-]*/.exec(span)?.[0];
        if (flag !== undefined) assert.ok(all.has(flag), `no verb has ${flag}`);
      }
    });
  }
});

/** Where lines are marked with `$ `, the others are output. */
function commandsOfBlock(block: string): string[] {
  const lines = block.split('\n');
  const marked = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
  return (marked.length > 0 ? marked : lines).flatMap(commandsOfLine);
}

/** What stands behind each `lane` that begins a command. */
function commandsOfLine(line: string): string[] {
  return [...line.matchAll(/(?:^|\$\(|<\(|\| |; |&& )(?:npx )?lane(?= |$)([^|>)#]*)/g)].map(([, rest = '']) => rest);
}

async function assertDeclared(command: string): Promise<void> {
  const words = wordsOf(command);
  const end = words.indexOf('--');
  const own = end < 0 ? words : words.slice(0, end);
  const verbAt = own.findIndex((word, index) => !word.startsWith('-') && own[index - 1] !== '--workspace');
  const word = own[verbAt];
  // `lane VERB` stands for any.
  if (word === undefined || word === 'VERB' || word === 'help' || word === '…') return;
  const name = verbName(word);
  assert.ok(name !== null, `lane${command}: there is no verb ${word}`);
  const verb = await loadVerb(name);
  const known = flagNames({ ...GLOBAL_FLAGS, ...verb.flags });
  for (const given of own) {
    const flag = /^--?[a-z][a-z-]*/.exec(given)?.[0];
    if (flag !== undefined) assert.ok(known.has(flag), `lane${command}: ${word} has no ${flag}`);
  }
  const sub = own[verbAt + 1];
  if (verb.subwords && sub !== undefined && /^[a-z]+$/.test(sub))
    assert.ok(verb.subwords.includes(sub), `lane${command}: ${word} has no ${sub}`);
}

/** A page may cut a command short in the middle of a quote. */
function wordsOf(command: string): string[] {
  try {
    return parsePosix(command).argv;
  } catch {
    return command.trim().split(/\s+/);
  }
}
