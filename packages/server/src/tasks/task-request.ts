import type { TaskSpec } from '@sluice/core';
import { checkTask, type ErrorDetail, TaskRequest } from '@sluice/protocol';
import { CORE_RULES } from '../base/core-rules.ts';
import { Checker } from '../base/validation.ts';

/** Checks what a client says of a task and turns it into what the core understands. */
export class TaskRequestParser {
  private readonly request = new Checker(TaskRequest);

  /** Adds to `problems` all that is wrong with `value`; `path` says where it stands in the body. */
  check(value: unknown, path: string, problems: ErrorDetail[]): void {
    if (this.request.accepts(value)) checkTask(value, path, problems, CORE_RULES);
    else problems.push(...this.request.problems(value, path));
  }

  /** The task as a spec. Most tasks are one already. */
  spec(request: TaskRequest): TaskSpec {
    if (typeof request.runAt !== 'string') return request as TaskSpec;
    return { ...request, runAt: Date.parse(request.runAt) };
  }
}
