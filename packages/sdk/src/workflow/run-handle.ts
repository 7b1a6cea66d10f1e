import type { ResultOptions, WaitOptions } from '../task/task-handle.ts';
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
}
