/** The store's functions against its contract (server/store/api.ts): the compiler compares their types in the two assignments. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Queries, Transitions } from '../../server/store/api.ts';
import * as queryModule from '../../server/store/queries/index.ts';
import * as transitionModule from '../../server/store/transitions/index.ts';

const queries: Queries = queryModule;
const transitions: Transitions = transitionModule;

const API = readFileSync(join(import.meta.dirname, '../../server/store/api.ts'), 'utf8');

for (const [name, functions] of Object.entries({ Queries: queries, Transitions: transitions })) {
  test(`${name}: what the store offers is what its contract names`, () => {
    const body = new RegExp(`export interface ${name} \\{(.*?)\\n\\}`, 's').exec(API)?.[1] ?? '';
    const named = [...body.matchAll(/^ {2}(\w+)[(<:]/gm)].map((match) => String(match[1]));
    assert.ok(named.length > 10, 'the contract was read');
    assert.deepEqual(Object.keys(functions).toSorted(), named.toSorted());
  });
}
