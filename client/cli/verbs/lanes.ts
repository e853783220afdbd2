import { MAX_RETRIES, MAX_SLOTS } from '../../../shared/limits.ts';
import type { LaneSettings } from '../../../shared/job.ts';
import { Lanes, LanesRemove, LanesSet } from '../../../shared/protocol.ts';
import { quoteValue } from '../../../shared/text.ts';
import { choice, didYouMean, duration, type Flag, invalid, whole } from '../args.ts';
import { laneTable } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { noWords, parseLane } from '../selection.ts';
import { verb } from '../verb.ts';

/** A flag that also takes `none`, which returns the setting to "not set". */
function orNone(flag: Flag<number>): Flag<number | 'none'> {
  return {
    ...flag,
    value: `${flag.value}|none`,
    parse: (given) => (given === 'none' ? given : flag.parse(given)),
  };
}

const BOOLS = ['true', 'false', 'yes', 'no', 'on', 'off'] as const;

const unset = (value: number | 'none'): number | null => (value === 'none' ? null : value);

export default verb({
  name: 'lanes',
  summary: 'List lanes, or change or remove one',
  usage: ['lane lanes', 'lane lanes set NAME [flags]', 'lane lanes remove NAME'],
  subwords: ['set', 'remove'],
  details: [
    'What a lane sets is copied into jobs when they are added; jobs that wait already keep what they have. Slots hold at once. "none" returns a setting to that of the product. "lane lanes set" makes a lane that does not exist; "lane lanes remove" takes empty lanes only.',
  ],
  flags: {
    slots: whole('N', 'Jobs of this lane that may run at once, whatever workers there are', 1, MAX_SLOTS),
    timeout: orNone(duration('Longest run of an attempt')),
    grace: orNone(duration('From SIGTERM to SIGKILL when a job is stopped')),
    retries: orNone(whole('N', 'Retries after the first failure', 0, MAX_RETRIES)),
    retryDelay: orNone(duration('Backoff before the first retry; it doubles with each')),
    retryMaxDelay: orNone(duration('Longest backoff')),
    pauseOnFailure: choice('Pause the lane when one of its jobs dies', BOOLS, 'BOOL'),
  },
  examples: [
    { line: 'lane lanes', says: 'All lanes with what is set' },
    { line: 'lane lanes set build --slots 2 --timeout 30m', says: 'Two builds at once, none over half an hour' },
    { line: 'lane lanes set deploy --pause-on-failure true', says: 'Stop the line when a deployment fails' },
    { line: 'lane lanes remove old', says: 'Forget an empty lane' },
  ],
  async run(context, { flags, words }) {
    const [action, name, ...more] = words;
    const settings: LaneSettings = {};
    if (flags.slots !== null) settings.slots = flags.slots;
    if (flags.timeout !== null) settings.timeoutMs = unset(flags.timeout);
    if (flags.grace !== null) settings.cancelGraceMs = unset(flags.grace);
    if (flags.retries !== null) settings.maxRetries = unset(flags.retries);
    if (flags.retryDelay !== null) settings.retryDelayMs = unset(flags.retryDelay);
    if (flags.retryMaxDelay !== null) settings.retryMaxDelayMs = unset(flags.retryMaxDelay);
    if (flags.pauseOnFailure !== null) settings.pauseOnFailure = ['true', 'yes', 'on'].includes(flags.pauseOnFailure);
    const [setting] = Object.keys(settings);
    if (action !== 'set' && setting !== undefined) {
      throw invalid('settings are given, but no lane to set', 'Write: lane lanes set NAME, then the flags.');
    }
    if (action === undefined) {
      const { lanes } = await context.request(Lanes, null);
      if (context.json) context.print({ lanes });
      else {
        const lines =
          lanes.length === 0 ? ['No lanes yet; adding a job makes its lane.'] : laneTable(lanes, viewOf(context));
        context.out(`${lines.join('\n')}\n`);
      }
      return 0;
    }
    if (action !== 'set' && action !== 'remove') {
      throw invalid(
        `lane lanes knows no ${quoteValue(action)}`,
        didYouMean(action, ['set', 'remove']) ?? 'Use lane lanes, lane lanes set NAME or lane lanes remove NAME.',
      );
    }
    if (name === undefined) throw invalid(`no lane is named`, `Write: lane lanes ${action} NAME.`);
    noWords(more, `lanes ${action} NAME`);
    parseLane(name);
    const { lane } =
      action === 'set'
        ? await context.request(LanesSet, { name, settings })
        : await context.request(LanesRemove, { name });
    if (context.json) context.print({ lane });
    else if (action === 'remove') context.out(`Lane ${name} is removed.\n`);
    else context.out(`${laneTable([lane], viewOf(context)).join('\n')}\n`);
    return 0;
  },
});
