import type { TaskSpec } from '@sluice/core';
import { type ErrorDetail, TaskRequest } from '@sluice/protocol';
import { timeProblems } from '../http/times.ts';
import { Checker } from '../http/validation.ts';
import { checkConstraints, checkResources } from '../resource-checks.ts';

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

/** What the schema cannot say: fields that depend on each other, and times as text. */
function checkTogether(request: TaskRequest, path: string, problems: ErrorDetail[]): void {
  const { runAt, delayMs, retry, resources, constraints } = request;
  if (resources !== undefined) checkResources(resources, `${path}/resources`, problems);
  if (constraints !== undefined) checkConstraints(constraints, `${path}/constraints`, problems);
  if (runAt !== undefined && delayMs !== undefined) {
    problems.push({ path: `${path}/delayMs`, problem: 'cannot be given beside runAt' });
  }
  problems.push(...timeProblems(runAt, `${path}/runAt`));
  if (request.dedupeWindowMs !== undefined && request.dedupeKey === undefined) {
    problems.push({ path: `${path}/dedupeWindowMs`, problem: 'needs a dedupeKey beside it' });
  }
  if (retry !== undefined) checkRetry(retry, `${path}/retry`, problems);
}

/** A ladder stands in the place of the rule. */
export function checkRetry(
  retry: NonNullable<TaskRequest['retry']>,
  path: string,
  problems: ErrorDetail[],
): void {
  if (retry.delaysMs === undefined) return;
  for (const name of ['maxAttempts', 'backoff', 'delayMs', 'maxDelayMs'] as const) {
    if (retry[name] === undefined) continue;
    problems.push({ path: `${path}/${name}`, problem: 'cannot be given beside delaysMs' });
  }
}
