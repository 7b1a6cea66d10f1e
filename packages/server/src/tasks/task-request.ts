import type { TaskSpec } from '@sluice/core';
import { type ErrorDetail, TaskRequest } from '@sluice/protocol';
import { Checker } from '../http/validation.ts';

/** Checks what a client says of a task and turns it into what the core understands. */
export class TaskRequestParser {
  private readonly request = new Checker(TaskRequest);

  /** Adds to `problems` all that is wrong with `value`; `path` says where it stands in the body. */
  check(value: unknown, path: string, problems: ErrorDetail[]): void {
    if (this.request.accepts(value)) checkTogether(value, path, problems);
    else problems.push(...this.request.problems(value, path));
  }

  /** The task as a spec. Most tasks are one already. */
  spec(request: TaskRequest): TaskSpec {
    if (typeof request.runAt !== 'string') return request as TaskSpec;
    return { ...request, runAt: Date.parse(request.runAt) };
  }
}

/** ISO 8601 with a zone: without one the same text would mean another time on another machine. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** What the schema cannot say: fields that depend on each other, and times as text. */
function checkTogether(request: TaskRequest, path: string, problems: ErrorDetail[]): void {
  const { runAt, delayMs, retry } = request;
  if (runAt !== undefined && delayMs !== undefined) {
    problems.push({ path: `${path}/delayMs`, problem: 'cannot be given beside runAt' });
  }
  if (typeof runAt === 'string' && !(TIME.test(runAt) && Date.parse(runAt) >= 0)) {
    const problem = 'must be a time such as 2030-01-01T00:00:00.000Z';
    problems.push({ path: `${path}/runAt`, problem });
  }
  if (request.dedupeWindowMs !== undefined && request.dedupeKey === undefined) {
    problems.push({ path: `${path}/dedupeWindowMs`, problem: 'needs a dedupeKey beside it' });
  }
  if (retry?.delaysMs === undefined) return;
  for (const name of ['maxAttempts', 'backoff', 'delayMs', 'maxDelayMs'] as const) {
    if (retry[name] === undefined) continue;
    problems.push({ path: `${path}/retry/${name}`, problem: 'cannot be given beside delaysMs' });
  }
}
