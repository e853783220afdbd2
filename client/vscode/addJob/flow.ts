/**
 * The add flow: what, which lane, then it is added. Back goes one question back, the gear opens
 * the other options and returns to the question it was pressed in.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { Lanes } from '../../../shared/protocol.ts';
import { pickJobs } from '../commands/jobPicker.ts';
import { defaultLane } from '../config.ts';
import type { Laneway, Queue } from '../context.ts';
import { withoutIcons } from '../messages/plainText.ts';
import { askPick, askText, type Answer, type Choice } from './ask.ts';
import { type JobForm, laneProblem, lineOf, OPTIONS, problem, readTyped, showArgv } from './jobForm.ts';
import { history, scripts, tasks } from './sources.ts';

const TITLE = 'Add a job';
const NEW_LANE = Symbol('new lane');

/** What the first question can answer: a command with what belongs to it. */
type What = Pick<JobForm, 'argv' | 'cwd' | 'env'>;

/** Everything known before the first question. */
export interface Prefilled {
  form: Partial<JobForm>;
  /** Text in the first question. */
  typed?: string;
  /** Do not ask what: `form.argv` is it. */
  settled?: boolean;
}

/** Ask until the job is complete. @throws CancellationError when dismissed */
export async function askJob(
  laneway: Laneway,
  queue: Queue,
  { form: given, typed = '', settled }: Prefilled,
): Promise<JobForm> {
  let form: JobForm = { argv: [], ...given };
  let line = typed;
  let step: 'what' | 'lane' = settled ? 'lane' : 'what';
  for (;;) {
    if (step === 'what') {
      const answer = await askWhat(laneway, queue, line);
      if (answer.kind === 'chosen') {
        form = { ...form, ...answer.value };
        line = lineOf(form.argv);
        step = 'lane';
      } else if (answer.kind === 'gear') {
        line = answer.typed;
        form = await askOptions(queue, form);
      }
      continue;
    }
    const answer = await askLane(laneway, queue, form, !settled);
    if (answer.kind === 'chosen') return { ...form, lane: answer.value };
    if (answer.kind === 'gear') form = await askOptions(queue, form);
    else step = 'what';
  }
}

async function askWhat(laneway: Laneway, queue: Queue, typed: string): Promise<Answer<What>> {
  const known = history(laneway.extension);
  return await askPick<What>({
    title: TITLE,
    step: 1,
    placeholder: 'Type a command, or choose one',
    typed,
    back: false,
    gear: true,
    items: (text) => [...typedItems(text), ...historyItems(known, text)],
    later: Promise.all([scriptItems(queue), taskItems(laneway, queue)]).then((groups) => groups.flat()),
  });
}

function typedItems(text: string): Choice<What>[] {
  try {
    const read = readTyped(text, process.platform, process.env['ComSpec']);
    if (!read) return [];
    return [
      {
        label: `$(play) ${withoutIcons(text.trim())}`,
        detail: withoutIcons(read.detail),
        alwaysShow: true,
        value: { argv: read.argv },
      },
    ];
  } catch (error) {
    const { message, hint } = toErrorData(error);
    return [{ label: `$(warning) ${withoutIcons(message)}`, detail: hint ?? '', alwaysShow: true }];
  }
}

function historyItems(known: string[], text: string): Choice<What>[] {
  const items = known
    .filter((line) => line !== text.trim())
    .flatMap((line): Choice<What>[] => {
      const read = readTyped(line, process.platform, process.env['ComSpec']);
      return read ? [{ label: `$(history) ${withoutIcons(line)}`, value: { argv: read.argv } }] : [];
    });
  return items.length > 0 ? [separator('added before'), ...items] : [];
}

async function scriptItems(queue: Queue): Promise<Choice<What>[]> {
  const found = await scripts(queue);
  const items = found.map(({ name, command, argv }) => ({
    label: `$(json) ${withoutIcons(name)}`,
    description: argv[0] ?? '',
    detail: withoutIcons(command),
    value: { argv, cwd: queue.root },
  }));
  return items.length > 0 ? [separator('package scripts'), ...items] : [];
}

async function taskItems(laneway: Laneway, queue: Queue): Promise<Choice<What>[]> {
  const items: Choice<What>[] = [];
  for (const task of await tasks(queue)) {
    try {
      const { argv, line, cwd, env } = task.command();
      const words = argv ?? readTyped(line ?? '', process.platform, process.env['ComSpec'])?.argv;
      if (!words) continue;
      items.push({
        label: `$(tools) ${withoutIcons(task.name)}`,
        description: task.source,
        detail: withoutIcons(showArgv(words)),
        value: { argv: words, cwd: cwd ?? queue.root, env },
      });
    } catch (error) {
      laneway.log.debug(`task ${task.name}: ${toErrorData(error).message}`);
    }
  }
  return items.length > 0 ? [separator('tasks'), ...items] : [];
}

async function askLane(laneway: Laneway, queue: Queue, form: JobForm, back: boolean): Promise<Answer<string>> {
  const { lanes } = await queue.request(Lanes, null);
  const usual = form.lane ?? defaultLane(laneway.settings);
  const names = new Set([usual, ...lanes.map(({ name }) => name)]);
  const items: Choice<string | typeof NEW_LANE>[] = [...names].map((name) => {
    const lane = lanes.find((known) => known.name === name);
    const use = lane ? `${lane.running}/${lane.slots} running, ${lane.queued + lane.blocked} waiting` : 'new';
    return { label: `$(list-ordered) ${name}`, description: lane?.paused ? `${use}, paused` : use, value: name };
  });
  items.push({ label: '$(add) new lane…', alwaysShow: true, value: NEW_LANE });
  for (;;) {
    const answer = await askPick({
      title: `${TITLE}: ${showArgv(form.argv)}`,
      step: 2,
      placeholder: 'Which lane?',
      back,
      gear: true,
      items: () => items,
    });
    if (answer.kind !== 'chosen') return answer;
    if (answer.value !== NEW_LANE) return { kind: 'chosen', value: answer.value as string };
    const name = await askText({
      title: 'New lane',
      prompt: 'A lane runs one job at a time until it is given more slots',
      value: '',
      problem: (text) => laneProblem(text.trim()),
    });
    if (name !== null) return { kind: 'chosen', value: name };
  }
}

async function askOptions(queue: Queue, given: JobForm): Promise<JobForm> {
  let form = given;
  for (;;) {
    const shown = form;
    const answer = await askPick({
      title: `${TITLE}: options`,
      step: null,
      placeholder: 'Change what you need, then go back',
      back: true,
      gear: false,
      items: (): Choice<(typeof OPTIONS)[number] | null>[] => [
        { label: '$(arrow-left) Done', value: null },
        ...OPTIONS.map((option) => ({
          label: option.label,
          description: withoutIcons(option.show(shown)),
          detail: option.prompt,
          value: option,
        })),
      ],
    });
    if (answer.kind !== 'chosen' || answer.value === null) return form;
    const option = answer.value;
    if (option.key === 'needs') {
      const needs = await pickJobs(queue, {
        title: 'Run after which jobs?',
        states: ['blocked', 'queued', 'running', 'done'],
      });
      if (needs) form = { ...form, needs: needs.map(({ id }) => id) };
      continue;
    }
    const text = await askText({
      title: option.label,
      prompt: option.prompt,
      value: option.show(form),
      problem: (value) => problem(option, shown, value),
    });
    if (text !== null) form = option.read(form, text);
  }
}

function separator(label: string): Choice<never> {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
