/** The queue as a whole: status, lanes, settings, pruning, checks, spans of time, the server itself. */
import { absent, fields, flag, integer } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import type { Lane, Server } from '../../shared/job.ts';
import { MAX_DURATION_MS } from '../../shared/limits.ts';
import type {
  Doctor,
  Lanes,
  LanesSet,
  Prune,
  Result,
  ServerStop,
  SettingsGet,
  Spans,
  StatusRequest,
} from '../../shared/protocol.ts';
import {
  validateLaneName,
  validateLaneNames,
  validateLaneSettings,
  validateLimit,
  validateSettings,
  validateStates,
} from '../../shared/validateQuery.ts';
import type { Call, Context } from '../context.ts';
import { prune as pruneAll, prunable } from '../retention.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';

export function status(context: Context): Result<typeof StatusRequest> {
  return context.store.read((reader) => ({
    ...queries.counts(reader),
    lanes: queries.lanes(reader),
    workers: queries.workers(reader),
    server: context.describe(),
    logBytes: queries.logBytes(reader),
  }));
}

export function lanes(context: Context): Result<typeof Lanes> {
  return { lanes: context.store.read((reader) => queries.lanes(reader)) };
}

export async function lanesSet(context: Context, params: unknown): Promise<Result<typeof LanesSet>> {
  const given = fields(params, 'the request', ['name', 'settings']);
  const name = validateLaneName(given['name']);
  const settings = validateLaneSettings(given['settings']);
  await context.store.write((tx) => transitions.setLane(tx, name, settings));
  return { lane: laneOf(context, name) };
}

export async function lanesRemove(context: Context, params: unknown): Promise<Result<typeof LanesSet>> {
  const name = validateLaneName(fields(params, 'the request', ['name'])['name']);
  return { lane: await context.store.write((tx) => transitions.removeLane(tx, name)) };
}

export async function pause(context: Context, params: unknown): Promise<Result<typeof Lanes>> {
  const names = validateLaneNames(fields(params, 'the request', ['lanes'])['lanes']);
  await context.store.write((tx) => transitions.pause(tx, names));
  return { lanes: names.map((name) => laneOf(context, name)) };
}

export async function resume(context: Context, params: unknown): Promise<Result<typeof Lanes>> {
  const names = validateLaneNames(fields(params, 'the request', ['lanes'])['lanes']);
  await context.store.write((tx) => transitions.resume(tx, names));
  return { lanes: names.map((name) => laneOf(context, name)) };
}

function laneOf(context: Context, name: string): Lane {
  const lane = context.store.read((reader) => queries.lane(reader, name));
  if (lane !== null) return lane;
  throw new LanewayError('NOT_FOUND', `there is no lane ${name}`, 'See: lane lanes');
}

export async function prune(context: Context, params: unknown): Promise<Result<typeof Prune>> {
  const given = fields(params, 'the request', ['olderThanMs', 'states', 'dryRun']);
  const dryRun = flag(given['dryRun'], 'dryRun');
  const states = validateStates(given['states']) ?? ['done', 'canceled'];
  const age = given['olderThanMs'];
  // Without an age it is all that has ended, even at a time that this clock, set back since, has yet to come to.
  const before = absent(age)
    ? Number.MAX_SAFE_INTEGER
    : context.clock.now() - integer(age, 'olderThanMs', 0, 100 * MAX_DURATION_MS);
  return dryRun ? prunable(context, { before, states }) : pruneAll(context, { before, states });
}

export function doctor(context: Context, params: unknown): Promise<Result<typeof Doctor>> {
  const given = fields(params ?? {}, 'the request', ['deep']);
  return context.doctor(absent(given['deep']) ? false : flag(given['deep'], 'deep'));
}

export function settings(context: Context): Result<typeof SettingsGet> {
  return { settings: context.store.read((reader) => queries.settings(reader)) };
}

export async function settingsSet(context: Context, params: unknown): Promise<Result<typeof SettingsGet>> {
  const wanted = validateSettings(fields(params, 'the request', ['settings'])['settings']);
  await context.store.write((tx) => transitions.setSettings(tx, wanted));
  context.settingsChanged();
  return settings(context);
}

export function spans(context: Context, params: unknown, call: Call): Promise<Result<typeof Spans>> {
  const given = fields(params, 'the request', ['from', 'to', 'limit']);
  const from = integer(given['from'], 'from', 0, Number.MAX_SAFE_INTEGER);
  const to = integer(given['to'], 'to', from, Number.MAX_SAFE_INTEGER);
  const limit = validateLimit(given['limit'], 5000, 20_000);
  return call.session.inTurn(() => context.store.read((reader) => queries.spans(reader, { from, to, limit })));
}

export function server(context: Context): Server {
  return context.describe();
}

export function serverStop(context: Context, params: unknown): Result<typeof ServerStop> {
  const given = fields(params ?? {}, 'the request', ['force']);
  const force = absent(given['force']) ? false : flag(given['force'], 'force');
  const answer = { server: context.describe(), running: context.running() };
  context.stop({ force, reason: 'asked to stop' });
  return answer;
}
