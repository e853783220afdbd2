/** Every refusal: the code, the value and limit in the message, one line, and a way out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { LanewayError } from '../../shared/errors.ts';
import type { AddRequest } from '../../shared/job.ts';
import { validateAdd, validateBatch, validateCaller } from '../../shared/validate.ts';
import {
  validateLaneName,
  validateLaneSettings,
  validateLimit,
  validateRef,
  validateRefs,
  validateSelection,
  validateSettings,
  validateStageName,
  validateStates,
} from '../../shared/validateQuery.ts';

const NOW = Date.parse('2030-01-01T00:00:00.000Z');
const CONTEXT = {
  env: { PATH: '/bin' } as Record<string, string>,
  platform: 'linux' as NodeJS.Platform,
  now: NOW,
  line: null as number | null,
};
const add = (request: unknown, context: Partial<typeof CONTEXT> = {}): AddRequest =>
  validateAdd(request, { ...CONTEXT, ...context });
const job = (more: object): object => ({ argv: ['true'], ...more });

/** Fails unless `action` throws INVALID_INPUT with such a message, in one line, with a hint. */
function refuses(action: () => unknown, message: RegExp): void {
  assert.throws(action, (error) => {
    assert.ok(error instanceof LanewayError, String(error));
    assert.equal(error.code, 'INVALID_INPUT');
    assert.match(error.message, message);
    assert.doesNotMatch(error.message + error.hint, /[\p{Cc}]/u);
    assert.ok((error.hint ?? '').length > 5, 'a way out');
    assert.ok(error.message.length < 400);
    return true;
  });
}

describe('add', () => {
  it('takes a job with every field, and normalises it', () => {
    const full: AddRequest = {
      argv: ['a', '', 'b c', '-x', '漢'],
      lane: 'build.fast_1-x',
      priority: -2_147_483_648,
      at: '2030-06-01T02:00:00+02:00',
      timeoutMs: 1,
      maxRetries: 0,
      maxCrashes: 3,
      retryDelayMs: 31_622_400_000,
      retryMaxDelayMs: 5,
      cancelGraceMs: 10,
      cwd: '/tmp',
      env: { A: 'b=c', EMPTY: '' },
      label: 'x'.repeat(200),
      tags: { k: '', ['t'.repeat(64)]: 'v'.repeat(256) },
      key: '漢'.repeat(256),
      needs: [3, 1, '3', 'last', 'label:build'],
      onNeedFailure: 'release',
      split: true,
    };
    assert.deepEqual(add(full), { ...full, at: '2030-06-01T00:00:00.000Z', needs: [3, 1, 'last', 'label:build'] });
    assert.deepEqual(add({ command: 'a | b' }), { argv: ['sh', '-c', 'a | b'] });
    assert.deepEqual(add(job({ label: '', lane: null, needs: undefined })), { argv: ['true'], label: null });
    assert.deepEqual(add(job({ key: '👍'.repeat(256) })).key?.length, 512);
  });

  it('refuses every bad value', () => {
    const table: [unknown, RegExp][] = [
      [null, /the job null is no object/],
      [[], /no object/],
      [{}, /no command/],
      [{ argv: [] }, /no command/],
      [{ argv: [''] }, /argv\[0\].* is empty/],
      [{ argv: 'ls' }, /argv "ls" is no list/],
      [{ argv: ['a', 1] }, /argv\[1\] 1 is no text/],
      [{ argv: ['a', 'b\0c'] }, /argv\[1\] "b\\x00c" holds a NUL/],
      [{ argv: ['a', '\ud800'] }, /argv\[1\] .*surrogate/],
      [{ argv: Array(4097).fill('a') }, /4097 elements; at most 4096/],
      [{ argv: ['a', 'x'.repeat(131_072)] }, /argv\[1\] has 131072 bytes; .*shorter than 131072/],
      [{ argv: ['a', '漢'.repeat(43_691)] }, /131073 bytes/],
      [{ argv: ['a'], command: 'b' }, /both argv and shell text/],
      [{ command: '  ' }, /shell text is empty/],
      [job({ lane: '' }), /lane name "" is not allowed: 1 to 64/],
      [job({ lane: '-a' }), /lane name "-a"/],
      [job({ lane: 'a/b' }), /lane name "a\/b"/],
      [job({ lane: 'x'.repeat(65) }), /1 to 64/],
      [job({ lane: 'a\n' }), /lane name "a\\n"/],
      [job({ lane: 7 }), /lane name 7/],
      [job({ priority: 1.5 }), /priority 1.5 is no whole number/],
      [job({ priority: 2_147_483_648 }), /priority 2147483648 is out of range; -2147483648 to 2147483647/],
      [job({ priority: '5' }), /priority "5" is no whole number/],
      [job({ priority: Number.NaN }), /priority NaN/],
      [job({ afterMs: 0 }), /delay \(after\) 0 is out of range; 1 ms to 366 days/],
      [job({ afterMs: -1 }), /-1/],
      [job({ afterMs: 31_622_400_001 }), /31622400001/],
      [job({ afterMs: 5, at: '2030-01-02T00:00:00Z' }), /both a delay .* one is allowed/],
      [job({ at: 'soon' }), /"soon" is no ISO 8601 moment/],
      [job({ at: '2030-01-02T00:00:00' }), /with a zone/],
      [job({ at: '2031-01-03T00:00:00Z' }), /more than 366 days ahead/],
      [job({ timeoutMs: 0.5 }), /timeout 0.5/],
      [job({ cancelGraceMs: 0 }), /grace 0/],
      [job({ retryDelayMs: 'x' }), /retry delay "x"/],
      [job({ retryMaxDelayMs: 0 }), /longest retry delay 0/],
      [job({ maxRetries: -1 }), /retries -1 is out of range; 0 to 1000000/],
      [job({ maxCrashes: 1e9 }), /crashes 1000000000/],
      [job({ cwd: 'here' }), /cwd "here" is no absolute path/],
      [job({ cwd: '/a\0' }), /NUL/],
      [job({ env: { 'A=B': 'c' } }), /name "A=B" is not allowed/],
      [job({ env: { '': 'c' } }), /name "" is not allowed/],
      [job({ env: { A: 1 } }), /A 1 is no text/],
      [job({ env: { A: 'b\0' } }), /NUL/],
      [job({ env: ['A=B'] }), /no object of texts/],
      [job({ env: { BIG: 'x'.repeat(3_000_000) } }), /"BIG" has 3000004 bytes; NAME=VALUE must be shorter than 131072/],
      [job({ label: 'x'.repeat(201) }), /label .* 201 characters; at most 200/],
      [job({ tags: { '': 'v' } }), /tag key is empty/],
      [job({ tags: { ['k'.repeat(65)]: 'v' } }), /65 characters; at most 64/],
      [job({ tags: { k: 'v'.repeat(257) } }), /257 characters; at most 256/],
      [job({ tags: { 'a=b': 'v' } }), /"="/],
      [job({ tags: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, ''])) }), /65 tags; at most 64/],
      [job({ tags: [] }), /tag/],
      [job({ key: '' }), /key is empty; 1 to 256/],
      [job({ key: 'k'.repeat(257) }), /257 characters; at most 256/],
      [job({ needs: [0] }), /job 0 is out of range/],
      [job({ needs: ['first'] }), /"first" is no job/],
      [job({ needs: [null] }), /null/],
      [job({ needs: [1.5] }), /1.5/],
      [job({ needs: Array.from({ length: 101 }, (_, i) => i + 1) }), /101 needs; at most 100/],
      [job({ needs: [{ line: 1 }] }), /batch only/],
      [job({ needs: 5 }), /needs 5 is no list/],
      [job({ onNeedFailure: 'explode' }), /on-need-failure "explode" is not known/],
      [job({ split: 'yes' }), /split "yes" is neither/],
      [job({ prioritee: 1 }), /unknown field "prioritee"/],
      [job({ retries: 1 }), /unknown field "retries"/],
    ];
    for (const [request, message] of table) refuses(() => add(request), message);
  });

  it('suggests the field that was meant', () => {
    assert.throws(
      () => add(job({ prioritee: 1 })),
      (e) => e instanceof LanewayError && /priority/.test(e.hint ?? ''),
    );
  });

  it('counts argv and environment against the limit of exec', () => {
    const big = (n: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: n }, (_, i) => [`V${i}`, 'x'.repeat(131_000)]));
    refuses(() => add(job({}), { env: big(17) }), /together need \d+ bytes; the system allows 2097152/);
    assert.ok(add(job({}), { env: big(15) }));
    refuses(() => add(job({}), { env: big(8), platform: 'darwin' }), /the system allows 1048576/);
    refuses(() => add({ argv: ['a', 'x'.repeat(33_000)] }, { platform: 'win32' }), /Windows allows 32767/);
    // An override replaces what it hides.
    assert.ok(add(job({ env: { V: 'small' } }), { env: { V: 'x'.repeat(3_000_000) } }));
    refuses(() => add(job({}), { env: { V: 'x'.repeat(3_000_000) } }), /"V" has 3000002 bytes/);
  });

  it('names the line of a batch, and lets it need earlier lines only', () => {
    const caller = { env: {}, umask: 0o22 };
    const batch = (jobs: unknown): unknown => validateBatch(jobs, caller, { platform: 'linux', now: NOW });
    assert.deepEqual(batch([job({}), job({ needs: [{ line: 1 }, 7, { line: 1 }] })]), {
      jobs: [job({}), job({ needs: [{ line: 1 }, 7] })],
      caller,
    });
    refuses(() => batch([job({}), job({ needs: [{ line: 2 }] })]), /^line 2: needs: line 2 is no earlier line/);
    refuses(() => batch([job({}), { argv: [] }]), /^line 2: there is no command/);
    refuses(() => batch([]), /0 entries; 1 to 10000/);
    refuses(() => batch(Array(10_001).fill(job({}))), /10001 entries; 1 to 10000/);
    refuses(() => validateCaller({ env: {}, umask: 512 }), /umask 512/);
    refuses(() => validateCaller(null), /caller null/);
  });

  it('either accepts a job unchanged in meaning or refuses it as bad input, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.record(
          { argv: fc.anything(), lane: fc.anything(), tags: fc.anything(), needs: fc.anything(), key: fc.anything() },
          { requiredKeys: [] },
        ),
        (request) => {
          try {
            const checked = add(request);
            assert.deepEqual(add(checked), checked);
            assert.deepEqual(checked.argv, request.argv);
          } catch (error) {
            assert.ok(error instanceof LanewayError && error.code === 'INVALID_INPUT', String(error));
          }
        },
      ),
    );
  });
});

describe('everything but add', () => {
  it('reads references', () => {
    assert.deepEqual([7, '7', ' 12 ', 'last', 'label:my job'].map(validateRef), [7, 7, 12, 'last', 'label:my job']);
    for (const bad of [0, -1, 1.5, '0', '', 'first', 'label:', '#3', null, {}, '1e3', '9'.repeat(30)]) {
      refuses(() => validateRef(bad), /is no job|label is empty/);
    }
    assert.deepEqual(validateRefs([3, '3', 'last', 1]), [3, 'last', 1]);
    refuses(() => validateRefs([]), /0 entries/);
  });

  it('reads selections: ids, or all with filters', () => {
    assert.deepEqual(validateSelection({ ids: ['1', 2] }), { ids: [1, 2] });
    assert.deepEqual(validateSelection({ all: true, lane: 'a', states: ['active', 'active'], tags: { k: 'v' } }), {
      all: true,
      lane: 'a',
      states: ['active'],
      tags: { k: 'v' },
    });
    const table: [unknown, RegExp][] = [
      [{}, /no job is chosen/],
      [{ lane: 'a' }, /no job is chosen/],
      [{ ids: [1], all: true }, /both by id and by --all/],
      [{ ids: [1], states: ['dead'] }, /both by id/],
      [{ all: true, states: ['sleeping'] }, /state "sleeping" is not known/],
      [{ all: true, lane: 'no lane' }, /lane name/],
      [{ all: 1 }, /all 1/],
      [{ every: true }, /unknown field/],
    ];
    for (const [selection, message] of table) refuses(() => validateSelection(selection), message);
  });

  it('reads filters, paging, lanes and settings', () => {
    assert.equal(validateStates(null), null);
    assert.equal(validateStates([]), null);
    assert.equal(validateLimit(undefined, 50, 1000), 50);
    assert.deepEqual(validateLaneSettings({ slots: 3, timeoutMs: null }), { slots: 3, timeoutMs: null });
    assert.deepEqual(validateSettings({ concurrency: null, logLimit: 5 }), { concurrency: null, logLimit: 5 });
    const table: [() => unknown, RegExp][] = [
      [() => validateLimit(0, 50, 1000), /limit 0 is out of range; 1 to 1000/],
      [() => validateLimit('5', 50, 1000), /limit "5"/],
      [() => validateLaneSettings({ slots: 0 }), /slots 0 is out of range; 1 to 10000/],
      [() => validateLaneSettings({ slot: 1 }), /unknown field "slot"/],
      [() => validateLaneSettings({ pauseOnFailure: 'yes' }), /pause-on-failure "yes"/],
      [() => validateSettings({ retentionMs: 0 }), /retentionMs 0/],
      [() => validateSettings({ logLimit: null }), /logLimit null/],
      [() => validateLaneName(' '), /lane name/],
      [() => validateStageName(''), /stage name is empty/],
      [() => validateStageName('x'.repeat(201)), /201 characters; at most 200/],
    ];
    for (const [action, message] of table) refuses(action, message);
  });
});
