import { CronError, isTimeZone, parseCron } from '@sluice/calendar';
import type { RunTarget, ScheduleSettings, ScheduleSpec, TaskSpec } from '@sluice/core';
import {
  CronSpec,
  checkTask,
  type ErrorDetail,
  EverySpec,
  LIMITS,
  OnceSpec,
  PermanentSpec,
  ScheduleRequest,
  type TaskRequest,
  timeProblems,
} from '@sluice/protocol';
import { CORE_RULES } from '../base/core-rules.ts';
import { Checker } from '../base/validation.ts';

/** A checked request in the form of the core. */
export interface ParsedSchedule {
  readonly settings: ScheduleSettings;
  /** Any JSON; null for none. */
  readonly input: unknown;
  readonly paused: boolean;
}

const request = new Checker(ScheduleRequest);

/** By the field that only this kind has. */
const SPECS = {
  cron: new Checker(CronSpec),
  everyMs: new Checker(EverySpec),
  at: new Checker(OnceSpec),
  permanent: new Checker(PermanentSpec),
} as const;

/** Tags that a schedule adds to what it makes. */
const OWN_TAGS = 2;
const TAGS_MAX = 32;

/** Checks a request. Its problems are added to `problems`, with their places behind `path`. */
export function parseSchedule(
  value: unknown,
  path: string,
  problems: ErrorDetail[],
): ParsedSchedule | undefined {
  const before = problems.length;
  checkSpec(value, path, problems);
  // Its kind is known by now, and a message about all kinds would not help.
  const others = problems.length > before ? withSpec(value) : value;
  if (!request.accepts(others)) problems.push(...request.problems(others, path));
  if (problems.length > before) return undefined;
  const schedule = value as ScheduleRequest;
  problems.push(...ruleProblems(schedule).map((each) => ({ ...each, path: path + each.path })));
  if (schedule.task !== undefined) {
    checkTask(schedule.task as TaskRequest, `${path}/task`, problems, CORE_RULES);
  }
  return problems.length > before ? undefined : parsed(schedule);
}

function checkSpec(value: unknown, path: string, problems: ErrorDetail[]): void {
  const { spec } = (value ?? {}) as { readonly spec?: unknown };
  if (typeof spec !== 'object' || spec === null) return;
  const kinds = (Object.keys(SPECS) as (keyof typeof SPECS)[]).filter((kind) => kind in spec);
  if (kinds.length !== 1) return;
  const checker = SPECS[kinds[0]];
  if (!checker.accepts(spec)) problems.push(...checker.problems(spec, `${path}/spec`));
}

function withSpec(value: unknown): unknown {
  return { ...(value as object), spec: { at: 0 } };
}

type Problem = readonly [path: string, problem: string];

/** Rules that the schema cannot express. */
function ruleProblems(schedule: ScheduleRequest): ErrorDetail[] {
  const { spec, task, run, window = {} } = schedule;
  const found: Problem[] = [];
  if (task === undefined && run === undefined) found.push(['/task', 'is required, or run']);
  if (task !== undefined && run !== undefined) found.push(['/run', 'cannot be combined with task']);
  found.push(...specProblems(spec), ...choiceProblems(schedule));
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
  return [...found.map(([path, problem]) => ({ path, problem })), ...times];
}

function specProblems(spec: ScheduleRequest['spec']): Problem[] {
  if ('everyMs' in spec) {
    if (spec.everyMs >= LIMITS.everyMsMin || spec.allowFast) return [];
    return [['/spec/everyMs', `is below ${LIMITS.everyMsMin}; set allowFast if you mean it`]];
  }
  if (!('cron' in spec)) return [];
  const problems: Problem[] = [];
  try {
    parseCron(spec.cron);
  } catch (cause) {
    if (!(cause instanceof CronError)) throw cause;
    problems.push(['/spec/cron', `cannot be read: ${cause.message}`]);
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
  const { from, to } = { from: msOf(window?.from), to: msOf(window?.to) };
  if (from !== undefined && to !== undefined && from > to) {
    problems.push(['/window/to', 'is before window.from']);
  }
  if (!('permanent' in spec)) return problems;
  for (const name of ['window', 'misfire', 'overlap', 'jitterMs'] as const) {
    if (schedule[name] === undefined) continue;
    problems.push([`/${name}`, 'has no effect on a permanent schedule']);
  }
  return problems;
}

/** The same request always gives the same settings, so a repeated one changes nothing. */
function parsed(schedule: ScheduleRequest): ParsedSchedule {
  const { task, run, window, misfire, misfireMax, overlap, jitterMs, tags } = schedule;
  const { input = null, ...target } = task ?? run ?? {};
  const bounds = { from: msOf(window?.from), to: msOf(window?.to) };
  const settings = {
    spec: specOf(schedule.spec),
    task: task === undefined ? undefined : (target as TaskSpec),
    run: task === undefined ? (target as RunTarget) : undefined,
    window: window === undefined ? undefined : bounds,
    misfire,
    misfireMax,
    overlap,
    jitterMs,
    tags,
  };
  return {
    settings: JSON.parse(JSON.stringify(settings, sortedKeys)) as ScheduleSettings,
    input,
    paused: schedule.paused ?? false,
  };
}

function specOf(spec: ScheduleRequest['spec']): ScheduleSpec {
  if ('cron' in spec) return { cron: spec.cron.trim(), timeZone: spec.timeZone ?? 'UTC' };
  // 0 stands for no time.
  if ('at' in spec) return { at: Math.max(1, msOf(spec.at) ?? 1) };
  if ('permanent' in spec) return { permanent: true, replicas: spec.replicas ?? 1 };
  const { everyMs, mode = 'fixedRate', allowFast } = spec;
  const startAt = msOf(spec.startAt);
  return {
    everyMs,
    mode,
    ...(startAt === undefined ? {} : { startAt }),
    ...(allowFast === undefined ? {} : { allowFast }),
  };
}

/** Two requests that differ only in the order of their fields are the same. */
function sortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

export function msOf(time: string | number | undefined): number | undefined {
  return typeof time === 'string' ? Date.parse(time) : time;
}
