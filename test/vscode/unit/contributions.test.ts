/** package.json and the code contribute the same things: each side is compared with the other. */
import './vscodeStub.ts';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { laneSettings, settingNames } from '../../../client/vscode/config.ts';
import { nextSteps } from '../../../client/vscode/messages/failure.ts';
import { CONTEXT_WORDS, describe as describeNode } from '../../../client/vscode/views/describe.ts';
import type { Node } from '../../../client/vscode/views/nodes.ts';
import { ERROR_CODES } from '../../../shared/errors.ts';
import { laneQueries } from '../../../client/vscode/views/lists.ts';
import { attempt, job, lane, NOW, queue } from './fixtures.ts';

interface Menu {
  command: string;
  when?: string;
}
interface Contributes {
  commands: { command: string; title: string; category: string }[];
  menus: Record<string, Menu[]>;
  keybindings: { command: string }[];
  views: Record<string, { id: string }[]>;
  viewsWelcome: { view: string; contents: string }[];
  configuration: { properties: Record<string, { markdownDescription?: string }> };
  taskDefinitions: { type: string; properties: Record<string, unknown> }[];
  walkthroughs: { steps: { description: string; media: Record<string, string>; completionEvents: string[] }[] }[];
}
const root = path.resolve(import.meta.dirname, '../../..');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  contributes: Contributes;
  extensionKind: string[];
  main: string;
  capabilities: { untrustedWorkspaces: { supported: unknown; description: string } };
};
const { contributes } = manifest;

/** Ids that the specification fixes. */
const FIXED = `addJob addFromTask addSelection cancelJob retryJob rerunJob bumpJob showLog openLog openLogInTerminal
  pauseLane resumeLane configureLane findJob pruneJobs showStatus showTimeline restartServer showServerLog openTerminal`
  .split(/\s+/)
  .map((name) => `laneway.${name}`);

const { allCommands } = await import('../../../client/vscode/commands/index.ts');
const registered = allCommands({ filter: () => '', setFilter: () => undefined }).map(({ id }) => id);

describe('contributions', () => {
  it('contributes every registered command, and registers every contributed one', () => {
    const contributed = contributes.commands.map(({ command }) => command);
    assert.deepEqual(contributed.toSorted(), registered.toSorted());
    assert.equal(new Set(registered).size, registered.length, 'no command twice');
    for (const id of FIXED) assert.ok(registered.includes(id), id);
    for (const { category, command } of contributes.commands) assert.equal(category, 'Laneway', command);
  });

  it('names only commands that exist in menus, keys, welcomes, walkthroughs and messages', () => {
    const menus = Object.values(contributes.menus).flat();
    const links = [
      ...contributes.viewsWelcome.map(({ contents }) => contents),
      ...contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ description }) => description)),
    ].flatMap((text) => [...text.matchAll(/command:(laneway\.\w+)/g)].map((match) => match[1] ?? ''));
    const events = contributes.walkthroughs
      .flatMap(({ steps }) => steps.flatMap(({ completionEvents }) => completionEvents))
      .map((event) => event.replace('onCommand:', ''));
    const buttons = ERROR_CODES.flatMap((code) => nextSteps(code).map(({ command }) => command));
    const used = [...menus, ...contributes.keybindings].map(({ command }) => command);
    for (const id of [...used, ...links, ...events, ...buttons].filter((each) => each.startsWith('laneway.'))) {
      assert.ok(registered.includes(id), id);
    }
  });

  it('offers a next step for every error', () => {
    for (const code of ERROR_CODES) assert.ok(nextSteps(code).length > 0, code);
  });

  it('has nodes that emit every word a menu tests, and no word that is undeclared', () => {
    const tested = new Set<string>();
    for (const { when = '' } of contributes.menus['view/item/context'] ?? []) {
      for (const [, word] of when.matchAll(/viewItem =~ \/\\b(\w+)\\b\//g)) tested.add(word ?? '');
      assert.match(when, /viewItem =~ /);
    }
    const emitted = new Set(nodes().flatMap((node) => describeNode(node, NOW).words as string[]));
    for (const word of tested) assert.ok(emitted.has(word), `a node emits "${word}"`);
    assert.deepEqual([...emitted].toSorted(), [...CONTEXT_WORDS].toSorted());
  });

  it('contributes every setting the code reads, with a description, and no other', () => {
    const names = Object.keys(contributes.configuration.properties);
    assert.deepEqual(names.toSorted(), settingNames.map((name) => `laneway.${name}`).toSorted());
    for (const [name, { markdownDescription }] of Object.entries(contributes.configuration.properties)) {
      assert.ok((markdownDescription ?? '').length > 20, name);
    }
  });

  it('documents every command a person can run, and every setting', () => {
    const page = readFileSync(path.join(root, 'docs/extension.md'), 'utf8');
    const hidden = new Set(
      contributes.menus['commandPalette']?.flatMap((menu) => (menu.when === 'false' ? menu.command : [])),
    );
    const names = contributes.commands.map(({ command }) => command).filter((id) => !hidden.has(id));
    for (const name of [...names, ...Object.keys(contributes.configuration.properties)]) {
      assert.ok(page.includes(`\`${name}\``), `docs/extension.md tells of ${name}`);
    }
    for (const [name] of page.matchAll(/laneway\.(?:\w+)(?:\.\w+)?/g)) {
      const known = [...registered, ...Object.keys(contributes.configuration.properties)];
      assert.ok(known.includes(name), `${name} exists`);
    }
  });

  it('gives lanes the same keys in the settings as the code reads', () => {
    const schema = contributes.configuration.properties['laneway.lanes'] as unknown as {
      additionalProperties: { properties: Record<string, unknown> };
    };
    const keys = Object.keys(schema.additionalProperties.properties);
    const values: Record<string, unknown> = { slots: 2, retries: 1, pauseOnFailure: true };
    const one = Object.fromEntries(keys.map((key) => [key, values[key] ?? '5s']));
    const { lanes, problems } = laneSettings((name) => (name === 'lanes' ? { one } : undefined));
    assert.deepEqual(problems, []);
    assert.equal(Object.keys(lanes.get('one') ?? {}).length, keys.length);
  });

  it('keeps to the fixed ids, runs beside the workspace, and says why it is off', () => {
    assert.deepEqual(
      contributes.views['laneway']?.map(({ id }) => id),
      ['laneway.lanes', 'laneway.states'],
    );
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.equal(manifest.main, './dist/extension.js');
    assert.equal(manifest.capabilities.untrustedWorkspaces.supported, 'limited');
    assert.match(manifest.capabilities.untrustedWorkspaces.description, /trusted\.$/);
    assert.equal(contributes.taskDefinitions[0]?.type, 'laneway');
  });
});

/** One node of every kind and state. */
function nodes(): Node[] {
  const [query] = laneQueries('default', '');
  const base = { id: 'x', queue };
  const jobs = [
    job(1),
    job(2, { state: 'dead', attempts: 1 }),
    job(3, { state: 'running', attempts: 1 }),
    job(4, { state: 'done', attempts: 1 }),
  ];
  return [
    { ...base, kind: 'folder' },
    { ...base, kind: 'lane', alone: false, lane: lane('a', { running: 1 }) },
    { ...base, kind: 'lane', alone: false, lane: lane('b', { paused: true }) },
    { ...base, kind: 'group', group: 'dead', count: 1 },
    ...jobs.map((one): Node => ({ ...base, kind: 'job', job: one })),
    { ...base, kind: 'attempt', job: job(3), attempt: attempt(3, 1), stages: [] },
    {
      ...base,
      kind: 'stage',
      stage: { name: 'build', attempt: 1, at: NOW.toString(), bytes: 1, kind: 'stage', until: null },
    },
    { ...base, kind: 'more', query: query! },
    { ...base, kind: 'note', text: 'n', trouble: true },
  ];
}
