/** What `npm run bench` makes of its samples, without taking any. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { interleave } from '../../bench/lib/interleave.ts';
import { isMet, type Row } from '../../bench/lib/rows.ts';
import { median, pairedRatio, percentile } from '../../bench/lib/stats.ts';
import { figure, table } from '../../bench/lib/table.ts';

it('medians and percentiles lie between neighbours, in whatever order the values come', () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(percentile([0, 10], 99), 9.9);
  assert.equal(percentile([7], 1), 7);
  assert.ok(Number.isNaN(median([])));
});

it('a ratio is taken pair by pair, so that a machine that slows down does not change it', () => {
  assert.equal(pairedRatio([12, 120, 1200], [10, 100, 1000]), 1.2);
  assert.equal(pairedRatio([12, 120, 1], [10, 100]), 1.2);
});

it('samples are taken in turn, another subject first each round, and a warm-up is not counted', async () => {
  const order: string[] = [];
  const subject = (name: string) => async () => order.push(name);
  const samples = await interleave({ a: subject('a'), b: subject('b'), c: subject('c') }, { rounds: 2, warmUp: 1 });
  assert.equal(order.join(''), 'abcbcacab');
  assert.deepEqual(samples, { a: [6, 8], b: [4, 9], c: [5, 7] });
});

it('a machine too slow for all rounds takes fewer, three at least', async () => {
  const many = { rounds: 1000, warmUp: 2, withinMs: 0 };
  assert.deepEqual(await interleave({ a: async () => 1, b: async () => 2 }, many), { a: [1, 1, 1], b: [2, 2, 2] });
});

const row = (more: Partial<Row>): Row => ({ id: 'P1', what: 'lane add', value: 36, unit: 'ms', ...more });

it('a row is met, missed, or only told', () => {
  const cases: [Partial<Row>, boolean | null][] = [
    [{}, null],
    [{ target: { of: 'value', atMost: 36 } }, true],
    [{ target: { of: 'value', atLeast: 37 } }, false],
    [{ ratio: 1.25, target: { of: 'ratio', atMost: 1.2 } }, false],
    [{ ratio: 0.8, target: { of: 'ratio', atLeast: 0.75 } }, true],
    [{ target: { of: 'ratio', atMost: 1 } }, null],
    [{ value: Number.NaN, target: { of: 'value', atMost: 1 } }, null],
  ];
  for (const [more, met] of cases) assert.equal(isMet(row(more)), met, JSON.stringify(more));
});

it('the table lines up and says what was wanted', () => {
  const beside = { what: 'empty Node', value: 30.04 };
  const target = { of: 'ratio', atMost: 1.3 } as const;
  const text = table([
    row({ beside, ratio: 1.2, target }),
    row({ id: 'P4', what: 'batch', value: 41_234, unit: 'jobs/s' }),
  ]);
  const lines = text.split('\n');
  assert.equal(new Set(lines.map((line) => line.length)).size, 1);
  assert.match(lines[2] ?? '', /P1 +\| lane add \| 36 ms +\| empty Node: 30 ms \| 1\.20 +\| ≤ 1\.30 × \| met/);
  assert.match(lines[3] ?? '', /41,234 jobs\/s/);
  assert.deepEqual([0.0316, 2.345, 99.96, 1234.5, Number.NaN].map(figure), ['0.0316', '2.35', '100', '1,235', '–']);
});
