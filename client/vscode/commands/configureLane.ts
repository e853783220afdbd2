/**
 * `laneway.configureLane` and `laneway.setSlots`: change a lane's slots and defaults. A second
 * argument with the settings sets them without asking. Each returns the lane.
 */
import * as vscode from 'vscode';
import { formatDuration, parseDuration } from '../../../shared/duration.ts';
import { LanewayError, toErrorData } from '../../../shared/errors.ts';
import type { Lane, LaneSettings } from '../../../shared/job.ts';
import { MAX_RETRIES, MAX_SLOTS } from '../../../shared/limits.ts';
import { Lanes, LanesSet } from '../../../shared/protocol.ts';
import type { Command, Laneway, Queue } from '../context.ts';
import { resolveLane } from './target.ts';

interface Field {
  label: string;
  prompt: string;
  show(lane: Lane): string;
  /** @throws INVALID_INPUT */
  read(text: string): LaneSettings;
}

const number = (text: string, least: number, most: number): number => {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new LanewayError('INVALID_INPUT', `A whole number from ${least} to ${most}`);
};
const span = (ms: number | null): string => (ms === null ? '' : formatDuration(ms));

const SLOTS: Field = {
  label: 'Slots',
  prompt: 'How many of its jobs run at once',
  show: (lane) => String(lane.slots),
  read: (text) => ({ slots: number(text, 1, MAX_SLOTS) }),
};
const FIELDS: readonly Field[] = [
  SLOTS,
  {
    label: 'Retries',
    prompt: 'Of jobs that name none; empty for none set',
    show: (lane) => (lane.maxRetries === null ? '' : String(lane.maxRetries)),
    read: (text) => ({ maxRetries: text === '' ? null : number(text, 0, MAX_RETRIES) }),
  },
  {
    label: 'Timeout',
    prompt: 'Of each attempt: 30s, 5m, 2h; empty for none',
    show: (lane) => span(lane.timeoutMs),
    read: (text) => ({ timeoutMs: text === '' ? null : parseDuration(text) }),
  },
  {
    label: 'Grace',
    prompt: 'Between asking a job to end and killing it; empty for the usual 10s',
    show: (lane) => span(lane.cancelGraceMs),
    read: (text) => ({ cancelGraceMs: text === '' ? null : parseDuration(text) }),
  },
  {
    label: 'Retry delay',
    prompt: 'Before the first retry; doubled for each further one; empty for the usual 2s',
    show: (lane) => span(lane.retryDelayMs),
    read: (text) => ({ retryDelayMs: text === '' ? null : parseDuration(text) }),
  },
  {
    label: 'Longest retry delay',
    prompt: 'Where the doubling ends; empty for the usual 1m',
    show: (lane) => span(lane.retryMaxDelayMs),
    read: (text) => ({ retryMaxDelayMs: text === '' ? null : parseDuration(text) }),
  },
];

export const setSlots: Command = {
  id: 'laneway.setSlots',
  doing: 'set the slots',
  async run(laneway, argument, slots) {
    const target = await resolveLane(laneway, argument, 'Set the slots of which lane?');
    if (!target) return undefined;
    if (typeof slots === 'number') return await set(target.queue, target.lane, { slots });
    return await edit(target.queue, await current(target.queue, target.lane), SLOTS);
  },
};

export const configureLane: Command = {
  id: 'laneway.configureLane',
  doing: 'configure the lane',
  async run(laneway: Laneway, argument: unknown, settings: unknown) {
    const target = await resolveLane(laneway, argument, 'Configure which lane?');
    if (!target) return undefined;
    const { queue } = target;
    if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) {
      return await set(queue, target.lane, settings);
    }
    let lane = await current(queue, target.lane);
    for (;;) {
      const next = await step(queue, lane);
      if (!next) return lane;
      lane = next;
    }
  },
};

async function step(queue: Queue, lane: Lane): Promise<Lane | undefined> {
  const pausing = { label: 'Pause on failure', description: lane.pauseOnFailure ? 'yes' : 'no', field: null };
  const fields = FIELDS.map((field) => ({ label: field.label, description: field.show(lane) || 'not set', field }));
  const picked = await vscode.window.showQuickPick([...fields, pausing], { title: `Lane ${lane.name}` });
  if (!picked) return undefined;
  if (picked.field === null) return await set(queue, lane.name, { pauseOnFailure: !lane.pauseOnFailure });
  return (await edit(queue, lane, picked.field)) ?? lane;
}

async function edit(queue: Queue, lane: Lane, field: Field): Promise<Lane | undefined> {
  const typed = await vscode.window.showInputBox({
    title: `${field.label} of lane ${lane.name}`,
    prompt: field.prompt,
    value: field.show(lane),
    validateInput(text) {
      try {
        field.read(text.trim());
        return null;
      } catch (error) {
        return toErrorData(error).message;
      }
    },
  });
  return typed === undefined ? undefined : await set(queue, lane.name, field.read(typed.trim()));
}

async function set(queue: Queue, name: string, settings: LaneSettings): Promise<Lane> {
  return (await queue.request(LanesSet, { name, settings })).lane;
}

async function current(queue: Queue, name: string): Promise<Lane> {
  const { lanes } = await queue.request(Lanes, null);
  const lane = lanes.find((known) => known.name === name);
  if (lane) return lane;
  throw new LanewayError('NOT_FOUND', `there is no lane ${name}`, 'Add a job to it to make it.');
}
