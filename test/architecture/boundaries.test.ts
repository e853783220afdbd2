/** What may import what, read off the sources. A rule that the compiler cannot state is stated here. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');

interface Import {
  /** Relative to the root, with slashes. */
  file: string;
  /** A package or `node:` module as written; a file relative to the root. */
  target: string;
  typeOnly: boolean;
}

const SOURCES = ['shared', 'server', 'client'].flatMap(filesBelow);
const IMPORTS = SOURCES.flatMap(importsOf);

describe('imports', () => {
  const onlyIn: [packageName: string, folders: string[]][] = [
    ['vscode', ['client/vscode/']],
    ['better-sqlite3', ['server/store/']],
    ['execa', ['server/run/']],
    ['vscode-languageclient', ['client/vscode/']],
    ['vscode-languageserver', ['server/session.ts', 'server/wire.ts']],
  ];
  for (const [name, folders] of onlyIn) {
    it(`${name} only in ${folders.join(', ')}`, () => {
      const users = IMPORTS.filter(({ target }) => target === name || target.startsWith(`${name}/`));
      assert.ok(users.length > 0, 'a rule about nothing is no rule');
      // The types of the database stand in the store's contract; no code of it does.
      assert.deepEqual(outside(users, folders), []);
    });
  }

  const directions: [from: string, may: string[]][] = [
    ['shared/', ['shared/']],
    ['server/', ['server/', 'shared/']],
    ['client/cli/', ['client/cli/', 'shared/']],
    ['client/vscode/', ['client/vscode/', 'shared/']],
    ['server/store/', ['server/store/', 'server/clock.ts', 'shared/']],
    ['server/logs/', ['server/logs/', 'server/store/api.ts', 'shared/']],
    ['server/run/', ['server/run/', 'server/logs/', 'server/store/', 'shared/']],
  ];
  for (const [from, may] of directions) {
    it(`${from} uses nothing but ${may.join(', ')}`, () => {
      const own = IMPORTS.filter(({ file, target }) => file.startsWith(from) && isFile(target));
      assert.ok(own.length > 0);
      const wrong = own.filter(({ target }) => !may.some((folder) => target.startsWith(folder)));
      assert.deepEqual(wrong, []);
    });
  }

  it('the pure parts know no process, no file and no clock', () => {
    const pure = ['shared/validate.ts', 'shared/protocol.ts', 'server/run/outcome.ts', 'server/greet.ts'];
    const wrong = IMPORTS.filter(({ file, target }) => pure.includes(file) && target.startsWith('node:'));
    assert.deepEqual(wrong, []);
  });
});

describe('calls', () => {
  const mains = ['server/main.ts', 'client/cli/main.ts', 'client/cli/lane.ts'];
  it('process.exit only in the mains', () => {
    assert.deepEqual(
      naming(/\bprocess\.exit\(/, (file) => !mains.includes(file)),
      [],
    );
  });

  it('handlers contain no SQL', () => {
    const sql = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\s+[a-z_]+\b/;
    assert.deepEqual(
      naming(sql, (file) => file.startsWith('server/') && !file.startsWith('server/store/')),
      [],
    );
  });

  it('job state is written by transitions alone', () => {
    const writes = /\b(INSERT INTO|UPDATE|DELETE FROM)\s+(jobs|job_runtime|job_outcomes|attempts|job_events|lanes)\b/;
    const may = ['server/store/transitions/', 'server/store/writer.ts', 'server/store/migrate.ts'];
    assert.deepEqual(
      naming(writes, (file) => !may.some((folder) => file.startsWith(folder))),
      [],
    );
  });

  it('nothing reads the environment while it is being loaded', () => {
    // At the left margin or in a top-level constant; inside a function it is indented.
    const atLoad = /^(?:export )?(?:const|let) [^=]*=(?!.*=>).*process\.env/m;
    assert.deepEqual(
      naming(atLoad, () => true),
      [],
    );
  });
});

describe('files', () => {
  it('stay small enough to hold in the head', () => {
    // The messages are one page on purpose: what travels is read from top to bottom.
    const large = SOURCES.filter((file) => lines(file) > 350 && file !== 'shared/protocol.ts');
    assert.deepEqual(large, []);
  });

  it('over 50 lines open with their reason to exist', () => {
    // A verb's summary says what it is for.
    const told = SOURCES.filter((file) => !file.startsWith('client/cli/verbs/'));
    const mute = told.filter(
      (file) => lines(file) > 50 && !/^(?:#!.*\n)?(?:import '[^']+';\n)*\/\*\*/.test(read(file)),
    );
    assert.deepEqual(mute, []);
  });
});

function outside(imports: Import[], folders: string[]): Import[] {
  const inside = (file: string): boolean => folders.some((folder) => file.startsWith(folder));
  return imports.filter(({ file, typeOnly }) => !typeOnly && !inside(file));
}

function naming(pattern: RegExp, where: (file: string) => boolean): string[] {
  return SOURCES.filter((file) => where(file) && pattern.test(code(file)));
}

/** Imports of a file, dynamic and side-effect ones included. */
function importsOf(file: string): Import[] {
  const pattern =
    /\b(import|export)\s+(type\s+)?(?:[\w*{][^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g;
  return [...code(file).matchAll(pattern)].map((match) => {
    const target = match[3] ?? match[4] ?? '';
    const resolved = target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target;
    return { file, target: resolved, typeOnly: match[2] !== undefined };
  });
}

function isFile(target: string): boolean {
  return /^(shared|server|client|test)\//.test(target);
}

/** The source without comments, in which words are free. */
function code(file: string): string {
  return read(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
}

function read(file: string): string {
  return fs.readFileSync(path.join(root, file), 'utf8');
}

function lines(file: string): number {
  return read(file).split('\n').length - 1;
}

function filesBelow(folder: string): string[] {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.split(path.sep).join('/')))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.includes('node_modules'));
}
