import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { formatDuration, parseDuration } from '../../shared/duration.ts';
import { LanewayError } from '../../shared/errors.ts';
import { sayBytes, sayCount, sayDuration, sayMoment } from '../../shared/format.ts';
import { MAX_DURATION_MS } from '../../shared/limits.ts';
import { parseAt } from '../../shared/time.ts';

describe('durations', () => {
  it('reads every documented form', () => {
    const table: [string, number][] = [
      ['500ms', 500],
      ['30s', 30_000],
      ['5m', 300_000],
      ['2h', 7_200_000],
      ['1d', 86_400_000],
      ['1h30m', 5_400_000],
      ['1d2h3m4s5ms', 93_784_005],
      ['90', 90_000],
      ['1.5', 1500],
      ['1.5h', 5_400_000],
      [' 5M ', 300_000],
      ['366d', MAX_DURATION_MS],
      ['1ms', 1],
    ];
    for (const [text, ms] of table) assert.equal(parseDuration(text), ms, text);
  });

  it('refuses anything else, naming the value and the way out', () => {
    const table: [string, RegExp][] = [
      ['', /""/],
      ['5 minutes', /"5 minutes"/],
      ['-5s', /"-5s"/],
      ['30m1h', /"30m1h"/],
      ['1h1h', /"1h1h"/],
      ['1e3', /"1e3"/],
      ['5x', /"5x"/],
      ['Infinity', /"Infinity"/],
      ['NaN', /"NaN"/],
      ['0', /"0" is out of range: 1ms to 366d/],
      ['367d', /"367d" is out of range: 1ms to 366d/],
      ['9'.repeat(400), /out of range/],
      ['5m\n\u001b[31m', /"5m\\n\\e\[31m"/],
    ];
    for (const [text, message] of table) {
      assert.throws(
        () => parseDuration(text, { what: '--timeout' }),
        (error) =>
          error instanceof LanewayError &&
          error.code === 'INVALID_INPUT' &&
          error.message.startsWith('--timeout "') &&
          message.test(error.message) &&
          !error.message.includes('\n') &&
          (error.hint ?? '').length > 10,
        text,
      );
    }
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_DURATION_MS }), (ms) => parseDuration(formatDuration(ms)) === ms),
    );
    assert.equal(formatDuration(0), '0s');
  });
});

describe('moments', () => {
  const now = new Date(2030, 5, 15, 12, 0, 0).getTime();
  const local = (...parts: [number, number, number, number, number]): string => new Date(...parts).toISOString();

  it('reads ISO 8601 with and without a zone, and the next HH:MM', () => {
    const table: [string, string][] = [
      ['2030-06-20T18:30:00Z', '2030-06-20T18:30:00.000Z'],
      ['2030-06-20t18:30:00.1239z', '2030-06-20T18:30:00.123Z'],
      ['2030-06-20T18:30+02:00', '2030-06-20T16:30:00.000Z'],
      ['2030-06-20 18:30:00-0530', '2030-06-21T00:00:00.000Z'],
      ['2030-06-20T18:30', local(2030, 5, 20, 18, 30)],
      ['2030-06-20', local(2030, 5, 20, 0, 0)],
      ['1999-01-01', local(1999, 0, 1, 0, 0)],
      ['12:01', local(2030, 5, 15, 12, 1)],
      ['12:00', local(2030, 5, 16, 12, 0)],
      ['9:30', local(2030, 5, 16, 9, 30)],
    ];
    for (const [text, iso] of table) assert.equal(parseAt(text, now), iso, text);
  });

  it('refuses what is no moment, or too far ahead', () => {
    for (const text of ['', 'tomorrow', '24:00', '12:60', '2030-02-30', '2030-13-01T00:00Z', '2030-06-20T25:00Z']) {
      assert.throws(() => parseAt(text, now), /--at ".*" is no moment/s, text);
    }
    assert.throws(() => parseAt('2031-06-20', now), /more than 366 days ahead/);
  });

  it('always finds an HH:MM within the coming day and an hour', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.nat(23), fc.nat(59), (from, hour, minute) => {
        const at = Date.parse(parseAt(`${hour}:${String(minute).padStart(2, '0')}`, from));
        return at > from && at <= from + 25 * 3_600_000;
      }),
    );
  });
});

describe('as people say it', () => {
  it('says spans, moments, sizes and counts', () => {
    const table: [string, string][] = [
      [sayDuration(0), '0 ms'],
      [sayDuration(999), '999 ms'],
      [sayDuration(1000), '1 s'],
      [sayDuration(1234), '1.2 s'],
      [sayDuration(9999), '10 s'],
      [sayDuration(59_499), '59 s'],
      [sayDuration(59_900), '1 m'],
      [sayDuration(185_000), '3 m 5 s'],
      [sayDuration(3_599_900), '1 h'],
      [sayDuration(7_800_000), '2 h 10 m'],
      [sayDuration(86_399_999), '1 d'],
      [sayDuration(273_600_000), '3 d 4 h'],
      [sayMoment(1_000_000, 1_000_400), 'just now'],
      [sayMoment(1_000_000, 1_012_999), '12 s ago'],
      [sayMoment(1_300_000, 1_000_000), 'in 5 m'],
      [sayMoment('1970-01-01T00:00:00.000Z', 26 * 3_600_000), '26 h ago'],
      [sayBytes(0), '0 B'],
      [sayBytes(1023), '1023 B'],
      [sayBytes(1536), '1.5 KiB'],
      [sayBytes(20 * 1024 * 1024), '20 MiB'],
      [sayBytes(1024 * 1024 - 1), '1.0 MiB'],
      [sayCount(1, 'job'), '1 job'],
      [sayCount(10_000, 'job'), '10,000 jobs'],
    ];
    for (const [said, expected] of table) assert.equal(said, expected);
  });
});
