import { LIMITS } from '../base/limits.ts';
import type { ErrorDetail } from '../base/sluice-error.ts';
import type { ScheduleRequest } from '../schemas/schedule-schemas.ts';
import type { TaskRequest } from '../schemas/task-schemas.ts';
import { type CoreRules, checkTask, timeProblems } from './task-rules.ts';

/** Functions of the calendar and of the core. They are passed in, as for tasks. */
export interface ScheduleRules extends CoreRules {
  /** Throws an error whose message says what is wrong. */
  parseCron(text: string): object;
  isTimeZone(name: string): boolean;
}

/** A checked request in the form of the core. */
export interface ParsedSchedule<Settings> {
  readonly settings: Settings;
  /** Any JSON; null for none. */
  readonly input: unknown;
  readonly paused: boolean;
}

/** Tags that a schedule adds to what it makes. */
const OWN_TAGS = 2;
const TAGS_MAX = 32;

type Problem = readonly [path: string, problem: string];

/** Rules that the schema cannot express. */
export function scheduleProblems(schedule: ScheduleRequest, rules: ScheduleRules): ErrorDetail[] {
  const { spec, task, run, window = {} } = schedule;
  const found: Problem[] = [];
  if (task === undefined && run === undefined) found.push(['/task', 'is required, or run']);
  if (task !== undefined && run !== undefined) found.push(['/run', 'cannot be combined with task']);
  found.push(...specProblems(spec, rules), ...choiceProblems(schedule));
  const tags = Object.keys((task ?? run)?.tags ?? {});
  const at = task === undefined ? '/run/tags' : '/task/tags';
  if (tags.length > TAGS_MAX - OWN_TAGS) {
    found.push([at, `has ${tags.length} tags; ${TAGS_MAX - OWN_TAGS} are allowed here`]);
  }
  for (const name of tags.filter((each) => each.startsWith('sluice.'))) {
    found.push([`${at}/${name}`, 'is reserved: names of tags that begin with sluice. are']);
  }
  const times = [
    ...timeProblems(window.from, '/window/from'),
    ...timeProblems(window.to, '/window/to'),
    ...('at' in spec ? timeProblems(spec.at, '/spec/at') : []),
    ...('everyMs' in spec ? timeProblems(spec.startAt, '/spec/startAt') : []),
  ];
  const ofTask: ErrorDetail[] = [];
  if (task !== undefined) checkTask(task as TaskRequest, '/task', ofTask, rules);
  return [...found.map(([path, problem]) => ({ path, problem })), ...times, ...ofTask];
}

function specProblems(
  spec: ScheduleRequest['spec'],
  { parseCron, isTimeZone }: ScheduleRules,
): Problem[] {
  if ('everyMs' in spec) {
    if (spec.everyMs >= LIMITS.everyMsMin || spec.allowFast) return [];
    return [['/spec/everyMs', `is below ${LIMITS.everyMsMin}; set allowFast if you mean it`]];
  }
  if (!('cron' in spec)) return [];
  const problems: Problem[] = [];
  try {
    parseCron(spec.cron);
  } catch (cause) {
    problems.push(['/spec/cron', `cannot be read: ${(cause as Error).message}`]);
  }
  if (spec.timeZone !== undefined && !isTimeZone(spec.timeZone)) {
    problems.push([
      '/spec/timeZone',
      `'${spec.timeZone}' is not a time zone; names are such as UTC or Europe/Berlin`,
    ]);
  }
  return problems;
}

/** Choices that would have no effect are refused: they were meant to have one. */
function choiceProblems(schedule: ScheduleRequest): Problem[] {
  const { spec, misfire, misfireMax, window } = schedule;
  const problems: Problem[] = [];
  if (misfireMax !== undefined && misfire !== 'all') {
    problems.push(['/misfireMax', 'needs misfire to be "all"']);
  }
  const { from, to } = { from: scheduleTime(window?.from), to: scheduleTime(window?.to) };
  if (from !== undefined && to !== undefined && from > to) {
    problems.push(['/window/to', 'is before window.from']);
  }
  if ('everyMs' in spec && (schedule.jitterMs ?? 0) >= spec.everyMs) {
    problems.push(['/jitterMs', 'is not below spec.everyMs']);
  }
  if (!('permanent' in spec)) return problems;
  for (const name of ['window', 'misfire', 'overlap', 'jitterMs'] as const) {
    if (schedule[name] === undefined) continue;
    problems.push([`/${name}`, 'has no effect on a permanent schedule']);
  }
  return problems;
}

/**
 * A checked request as the core takes it; `Settings` is the core's type. The same request always
 * gives the same settings, so a repeated one changes nothing.
 */
export function scheduleSettings<Settings>(schedule: ScheduleRequest): ParsedSchedule<Settings> {
  const { task, run, window, misfire, misfireMax, overlap, jitterMs, tags } = schedule;
  const { input = null, ...target } = task ?? run ?? {};
  const bounds = { from: scheduleTime(window?.from), to: scheduleTime(window?.to) };
  const settings = {
    spec: specOf(schedule.spec),
    task: task === undefined ? undefined : target,
    run: task === undefined ? target : undefined,
    window: window === undefined ? undefined : bounds,
    misfire,
    misfireMax,
    overlap,
    jitterMs,
    tags,
  };
  return {
    settings: sorted(settings) as Settings,
    input,
    paused: schedule.paused ?? false,
  };
}

function specOf(spec: ScheduleRequest['spec']): object {
  if ('cron' in spec) return { cron: spec.cron.trim(), timeZone: spec.timeZone ?? 'UTC' };
  // 0 stands for no time.
  if ('at' in spec) return { at: Math.max(1, scheduleTime(spec.at) ?? 1) };
  if ('permanent' in spec) return { permanent: true, replicas: spec.replicas ?? 1 };
  const { everyMs, mode = 'fixedRate', allowFast } = spec;
  const startAt = scheduleTime(spec.startAt);
  return {
    everyMs,
    mode,
    ...(startAt === undefined ? {} : { startAt }),
    ...(allowFast === undefined ? {} : { allowFast }),
  };
}

/**
 * A copy without undefined fields. Two requests that differ only in the order of their fields are
 * the same. The schema bounds the depth of settings; the input is not part of them.
 */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const given = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  return Object.fromEntries(names.sort().map((name) => [name, sorted(given[name])]));
}

export function scheduleTime(time: string | number | undefined): number | undefined {
  return typeof time === 'string' ? Date.parse(time) : time;
}
