import type { TaskSpec } from '@sluice/core';
import { checkTask, type ErrorDetail, TaskRequest } from '@sluice/protocol';
import { CORE_RULES } from '../base/core-rules.ts';
import { Checker } from '../base/validation.ts';

/** Validates a task request and turns it into the core's form. */
export class TaskRequestParser {
  private readonly request = new Checker(TaskRequest);

  /** Adds all problems of `value` to `problems`; `path` is its place in the body. */
  check(value: unknown, path: string, problems: ErrorDetail[]): void {
    if (this.request.accepts(value)) checkTask(value, path, problems, CORE_RULES);
    else problems.push(...this.request.problems(value, path));
  }

  /** The task as a spec. Most requests are one already. */
  spec(request: TaskRequest): TaskSpec {
    if (typeof request.runAt !== 'string') return request as TaskSpec;
    return { ...request, runAt: Date.parse(request.runAt) };
  }
}
