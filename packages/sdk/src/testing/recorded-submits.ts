import { taskBody } from '../task/define-task.ts';
import type { TaskHandle } from '../task/task-handle.ts';
import type { SubmitOptions } from '../task/task-options.ts';
import type { TaskSubmits } from '../task/task-submits.ts';

/** Submits that go nowhere. The test reads the bodies that were submitted. */
export class RecordedSubmits {
  readonly bodies: ReturnType<typeof taskBody>[] = [];

  /** Typed as the real thing; only ids of the handles are filled in. */
  get submits(): TaskSubmits {
    return this as unknown as TaskSubmits;
  }

  async submit(task: string, input: unknown, options: SubmitOptions): Promise<TaskHandle> {
    return this.record(task, input, options);
  }

  async submitMany(
    task: string,
    inputs: readonly unknown[],
    options: (input: unknown, index: number) => SubmitOptions,
  ): Promise<TaskHandle[]> {
    return inputs.map((input, index) => this.record(task, input, options(input, index)));
  }

  private record(task: string, input: unknown, options: SubmitOptions): TaskHandle {
    this.bodies.push(taskBody(task, input, options));
    return { id: `t_${this.bodies.length}`, deduplicated: false } as TaskHandle;
  }
}
