import type { ResultOptions, WaitOptions } from '../task/task-handle.ts';
import type { TaskError } from '../task/task-view.ts';
import type { RunView } from './run-view.ts';

/** A run that was started. */
export interface RunHandle<Output = unknown> {
  readonly id: string;
  /** A run with the dedupe key of the start existed already, and this is it. */
  readonly deduplicated: boolean;

  /**
   * The output of the run. Throws `RunFailed` when it ends without success, and a `SluiceError`
   * with code `wait_timeout` when it has not ended in time.
   */
  result(options?: ResultOptions): Promise<Output>;

  /** The run once it has ended, with or without success, or its current state at the timeout. */
  wait(options?: WaitOptions): Promise<RunView<Output>>;

  /** The current run. */
  get(): Promise<RunView<Output>>;

  /**
   * Cancels the run. Its tasks that no worker holds end at once; workers of others are told to
   * stop, and the run ends after them. Throws a `SluiceError` with code `run_finished` when it had
   * ended another way before.
   */
  cancel(): Promise<RunView<Output>>;

  /**
   * No step begins until `resume`. Tasks under way go on. Throws a `SluiceError` with code
   * `run_finished` when the run has ended.
   */
  pause(): Promise<RunView<Output>>;

  /** Lets a paused run go on. Its `timeoutSeconds` begin again. */
  resume(): Promise<RunView<Output>>;

  /**
   * Lets a run that did not succeed go on: what failed or was stopped begins again, and what had
   * succeeded is kept. Throws a `SluiceError` with code `run_not_finished` while it runs, and
   * `run_not_kept` when its steps are no longer in memory.
   */
  retry(): Promise<RunView<Output>>;

  /** Begins an ended run again from its first step, with the same input. */
  restart(): Promise<RunView<Output>>;

  /** Begins an ended run again from a step, which may get another input. */
  rerun(fromStep: string, input?: unknown): Promise<RunView<Output>>;

  /**
   * Ends a step that runs, with an output: a `w.human` or `w.wait` step that waits for this, or any
   * other. `step` is its name. In a loop this is the newest iteration; `approve__2` is the second.
   * Throws a `SluiceError` with code `step_not_waiting` when the step does not run now. It is not
   * sent again when the answer is lost, because in a loop that could end the next iteration.
   */
  complete(step: string, output?: unknown): Promise<RunView<Output>>;

  /**
   * Passes over a step that failed: the run goes on after it, with null as its output. A step that
   * has not begun is passed over when the run reaches it.
   */
  skip(step: string): Promise<RunView<Output>>;

  /** Ends a step that runs, without success. */
  fail(step: string, error: string | TaskError): Promise<RunView<Output>>;
}
