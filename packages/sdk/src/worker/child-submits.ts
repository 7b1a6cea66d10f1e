import type { AnyTask } from '../task/define-task.ts';
import type { TaskHandle, WaitOptions } from '../task/task-handle.ts';
import type { SubmitOptions } from '../task/task-options.ts';
import type { SubmitManyOptions, TaskSubmits } from '../task/task-submits.ts';

/**
 * The submits of one attempt, for the children of its task.
 *
 * children.found-again: The dedupe key of a child is made from its parent's id and the number of
 *   the call in the attempt, and in a call for many also from the place in the list. A later
 *   attempt that makes the same calls in the same order finds the children of the earlier one.
 */
export class ChildSubmits {
  private readonly parentId: string;
  private readonly submits: TaskSubmits;
  private readonly signal: () => AbortSignal;
  private calls = 0;

  /** `signal` ends the waiting for children, so that a cancelled parent does not keep its slot. */
  constructor(parentId: string, submits: TaskSubmits, signal: () => AbortSignal) {
    this.parentId = parentId;
    this.submits = submits;
    this.signal = signal;
  }

  // Async, so that a bad argument rejects the promise. The number is taken before the first wait.
  async submit(
    task: string | AnyTask,
    input: unknown,
    options?: SubmitOptions,
  ): Promise<TaskHandle> {
    const own = this.withKey(`${this.nextCall()}`, options);
    return this.heard(await this.submits.submit(task as string, input, own));
  }

  async submitMany(
    task: string | AnyTask,
    inputs: readonly unknown[],
    options?: SubmitManyOptions<never>,
  ): Promise<TaskHandle[]> {
    const call = this.nextCall();
    const handles = await this.submits.submitMany(task as string, inputs, (input, index) => {
      const given = typeof options === 'function' ? options(input as never, index) : options;
      return this.withKey(`${call}.${index}`, given);
    });
    return handles.map((handle) => this.heard(handle));
  }

  /** The handle of a child. Waiting for it ends with the attempt, unless a signal is given. */
  private heard(handle: TaskHandle): TaskHandle {
    return new Proxy(handle, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        if (name !== 'result' && name !== 'wait') return value.bind(target);
        return (options: WaitOptions = {}) =>
          value.call(target, { signal: this.signal(), ...options });
      },
    });
  }

  /** A call with a key of the caller counts as well, so that the others keep their numbers. */
  private nextCall(): number {
    this.calls += 1;
    return this.calls;
  }

  private withKey(key: string, options: SubmitOptions = {}): SubmitOptions {
    return {
      ...options,
      parentId: options.parentId ?? this.parentId,
      dedupeKey: options.dedupeKey ?? `child.${this.parentId}.${key}`,
    };
  }
}
