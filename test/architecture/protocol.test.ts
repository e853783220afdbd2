/** docs/protocol.md says of every message what the code says, and speaks of no other. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { MESSAGES } from '../../shared/protocol.ts';

const root = path.resolve(import.meta.dirname, '../..');
const page = fs.readFileSync(path.join(root, 'docs/protocol.md'), 'utf8');
const source = fs.readFileSync(path.join(root, 'shared/protocol.ts'), 'utf8');

/** Sections of the page by the message's name. */
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .map((text) => {
      const [, name = '', method = ''] = /^(\w+) · `([^`]+)`/.exec(text) ?? [];
      return [name, { method, text: text.split(/^## /m)[0] ?? '' }] as const;
    }),
);

describe('docs/protocol.md', () => {
  it('has every message, under its name and method, and no other', () => {
    const documented = Object.fromEntries([...sections].map(([name, { method }]) => [name, method]));
    const real = Object.fromEntries(Object.entries(MESSAGES).map(([name, { method }]) => [name, method]));
    assert.deepEqual(documented, real);
  });

  for (const name of Object.keys(MESSAGES)) {
    it(`${name}: direction, kind and every parameter`, () => {
      const text = sections.get(name)?.text ?? '';
      const { kind, params, comment } = declarationOf(name);
      const direction = /(client → server|server → client)/.exec(text)?.[1];
      assert.ok(direction, 'a direction is stated');
      if (/(client|server) → (client|server)/.test(comment)) assert.ok(comment.includes(direction), 'as the code says');
      assert.equal(/\*\*Result\*\*/.test(text), kind === 'request', 'a result exactly when it is a request');
      for (const param of params) assert.ok(text.includes(`\`${param}\``), `parameter ${param}`);
    });
  }
});

/** Kind and top-level parameters of a message, read off its declaration. */
function declarationOf(name: string): { kind: string; params: string[]; comment: string } {
  const start = source.search(new RegExp(`export const ${name} = (request|notification)<`));
  assert.ok(start >= 0, `${name} is declared in shared/protocol.ts`);
  const kind = /= (\w+)</.exec(source.slice(start))?.[1] ?? '';
  const comment = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(source.slice(0, start))?.[0] ?? '';
  const body = source.slice(source.indexOf('<', start) + 1).replaceAll(/\/\*[\s\S]*?\*\//g, '');
  if (!body.trimStart().startsWith('{')) return { kind, params: [], comment };
  const params: string[] = [];
  let depth = 0;
  for (const [token, word] of body.matchAll(/[{}()[\]]|(\w+)\??:/g)) {
    if ('{(['.includes(token)) depth += 1;
    else if ('})]'.includes(token)) depth -= 1;
    else if (depth === 1 && word !== undefined) params.push(word);
    if (depth === 0) break;
  }
  return { kind, params, comment };
}
