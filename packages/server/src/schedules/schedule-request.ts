import { isTimeZone, parseCron } from '@sluice/calendar';
import type { ScheduleSettings } from '@sluice/core';
import {
  CronSpec,
  type ErrorDetail,
  EverySpec,
  OnceSpec,
  type ParsedSchedule as Parsed,
  PermanentSpec,
  ScheduleRequest,
  scheduleProblems,
  scheduleSettings,
  setExecType,
} from '@sluice/protocol';
import { CORE_RULES } from '../base/core-rules.ts';
import { Checker } from '../base/validation.ts';
import { fileProblems, withExecInside } from './schedule-exec.ts';

export type ParsedSchedule = Parsed<ScheduleSettings>;

const RULES = { ...CORE_RULES, parseCron, isTimeZone };

const request = new Checker(ScheduleRequest);

/** By the field that only this kind has. */
const SPECS = {
  cron: new Checker(CronSpec),
  everyMs: new Checker(EverySpec),
  at: new Checker(OnceSpec),
  permanent: new Checker(PermanentSpec),
} as const;

/** Checks a request. Its problems are added to `problems`, with their places behind `path`. */
export function parseSchedule(
  value: unknown,
  path: string,
  problems: ErrorDetail[],
): ParsedSchedule | undefined {
  const before = problems.length;
  setExecType((value as { readonly task?: unknown } | null)?.task);
  checkSpec(value, path, problems);
  // Its kind is known by now, and a message about all kinds would not help.
  const others = problems.length > before ? withSpec(value) : value;
  if (!request.accepts(others)) problems.push(...request.problems(others, path));
  if (problems.length > before) return undefined;
  const schedule = value as ScheduleRequest;
  const found = [...scheduleProblems(schedule, RULES), ...fileProblems(schedule)];
  problems.push(...found.map((each) => ({ ...each, path: path + each.path })));
  if (problems.length > before) return undefined;
  return scheduleSettings<ScheduleSettings>(withExecInside(schedule));
}

function checkSpec(value: unknown, path: string, problems: ErrorDetail[]): void {
  const { spec } = (value ?? {}) as { readonly spec?: unknown };
  if (typeof spec !== 'object' || spec === null) return;
  const kinds = (Object.keys(SPECS) as (keyof typeof SPECS)[]).filter((kind) => kind in spec);
  if (kinds.length !== 1) {
    const has = kinds.length === 0 ? 'has none' : `has ${kinds.join(' and ')}`;
    const todo = kinds.length === 0 ? '' : '; in a patch, set the others to null';
    const problem = `${has} of cron, everyMs, at and permanent; one is needed${todo}`;
    problems.push({ path: `${path}/spec`, problem });
    return;
  }
  const checker = SPECS[kinds[0]];
  if (!checker.accepts(spec)) problems.push(...checker.problems(spec, `${path}/spec`));
}

function withSpec(value: unknown): unknown {
  return { ...(value as object), spec: { at: 0 } };
}
