import { COMMAND_TYPE, CONTAINER_TYPE, execTypeOf } from '../base/exec-types.ts';
import type { ErrorDetail } from '../base/sluice-error.ts';
import { TIME_PATTERN } from '../base/time-pattern.ts';
import type { TaskDefinition, TaskPatch, TaskRequest } from '../schemas/task-schemas.ts';
import { checkCallback } from './callback-rules.ts';

/**
 * Rules of tasks that schemas cannot express: fields that depend on each other, and texts with a
 * syntax.
 */

/** Functions of the core. The protocol does not import the core, so they are passed in. */
export interface CoreRules {
  hasThreeDecimals(value: number): boolean;
  /** Returns a string that describes the problem if the text is invalid. */
  parseConstraint(text: string): object | string;
}

/** Adds the problems of a task that its schema accepts. */
export function checkTask(
  request: TaskRequest,
  path: string,
  problems: ErrorDetail[],
  rules: CoreRules,
): void {
  const { runAt, delayMs } = request;
  checkType(request, path, problems);
  checkDefinition(request, path, problems, rules);
  if (runAt !== undefined && delayMs !== undefined) {
    problems.push({ path: `${path}/delayMs`, problem: 'cannot be combined with runAt' });
  }
  if (request.inputBlob !== undefined && request.input !== undefined) {
    problems.push({ path: `${path}/inputBlob`, problem: 'cannot be combined with input' });
  }
  problems.push(...timeProblems(runAt, `${path}/runAt`));
  if (request.dedupeKey !== undefined) return;
  for (const field of ['dedupeWindowMs', 'onDuplicate'] as const) {
    if (request[field] === undefined) continue;
    problems.push({ path: `${path}/${field}`, problem: 'needs a dedupeKey' });
  }
}

/** A task with `exec` has a type that no other task can have. */
function checkType({ type, exec }: TaskRequest, path: string, problems: ErrorDetail[]): void {
  if (exec !== undefined && type !== execTypeOf(exec)) {
    problems.push({ path: `${path}/type`, problem: 'cannot be combined with exec' });
  }
  if (exec === undefined && (type === COMMAND_TYPE || type === CONTAINER_TYPE)) {
    problems.push({ path: `${path}/type`, problem: `is reserved for tasks with exec: '${type}'` });
  }
}

/** The problems of a patch that its schema accepts. */
export function patchProblems({ runAt, input, inputBlob }: TaskPatch, path: string): ErrorDetail[] {
  const problems = timeProblems(runAt ?? undefined, `${path}/runAt`);
  if (input !== undefined && inputBlob !== undefined) {
    problems.push({ path: `${path}/inputBlob`, problem: 'cannot be combined with input' });
  }
  return problems;
}

/** Why the input of a task cannot be merged with an object. */
export const NOT_MERGED = 'cannot be merged with an input that is a blob';

/** Adds the problems of the fields that a task may leave to the definition of its type. */
export function checkDefinition(
  { retry, resources, constraints = [], callback }: TaskDefinition,
  path: string,
  problems: ErrorDetail[],
  rules: CoreRules,
): void {
  if (resources !== undefined) checkResources(resources, `${path}/resources`, problems, rules);
  constraints.forEach((text, index) => {
    const parsed = rules.parseConstraint(text);
    if (typeof parsed !== 'string') return;
    problems.push({ path: `${path}/constraints/${index}`, problem: parsed });
  });
  if (retry !== undefined) checkRetry(retry, `${path}/retry`, problems);
  if (callback !== undefined) checkCallback(callback, `${path}/callback`, problems);
}

/** Sums are kept in thousandths, so amounts may have at most three decimals. */
export function checkResources(
  { cpu = 0, custom = {} }: { readonly cpu?: number; readonly custom?: Record<string, number> },
  path: string,
  problems: ErrorDetail[],
  { hasThreeDecimals }: Pick<CoreRules, 'hasThreeDecimals'>,
): void {
  const fractions = Object.entries(custom).map(([name, value]) => [`custom/${name}`, value]);
  for (const [name, value] of [['cpu', cpu], ...fractions] as [string, number][]) {
    if (hasThreeDecimals(value)) continue;
    problems.push({ path: `${path}/${name}`, problem: 'must have at most three decimals' });
  }
}

/** A list of delays replaces the backoff rule, and no delay is longer than the longest. */
function checkRetry(
  retry: NonNullable<TaskRequest['retry']>,
  path: string,
  problems: ErrorDetail[],
): void {
  const { delayMs = 0, maxDelayMs } = retry;
  if (maxDelayMs !== undefined && delayMs > maxDelayMs) {
    const problem = `is ${delayMs} and cannot be more than maxDelayMs, which is ${maxDelayMs}`;
    problems.push({ path: `${path}/delayMs`, problem });
  }
  if (retry.delaysMs === undefined) return;
  for (const name of ['maxAttempts', 'backoff', 'delayMs', 'maxDelayMs'] as const) {
    if (retry[name] === undefined) continue;
    problems.push({ path: `${path}/${name}`, problem: 'cannot be combined with delaysMs' });
  }
}

const TIME = new RegExp(TIME_PATTERN);

/** Requests give times as text or as milliseconds; schemas cannot check the text completely. */
export function timeProblems(value: string | number | undefined, path: string): ErrorDetail[] {
  if (typeof value !== 'string') return [];
  const [, year, month, day] = TIME.exec(value) ?? [];
  if (isDay(Number(year), Number(month), Number(day)) && Date.parse(value) >= 0) return [];
  return [{ path, problem: 'must be a time such as 2030-01-01T00:00:00.000Z' }];
}

/** A day that the month does not have would be read as a day of the next month. */
function isDay(year: number, month: number, day: number): boolean {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}
