/** The tasks of the load. Each input identifies its task, so that its output can be predicted. */

export const TASK_TYPE = 'ledger';

export interface LedgerInput {
  /** The number of the submit that brought the task. */
  readonly batch: number;
  /** The task's position in that submit. */
  readonly index: number;
  /** Number of tasks in that submit. */
  readonly size: number;
  /**
   * Whether the submit has dedupe keys. Then it is repeated until it is answered, and its tasks may
   * be delayed and fail at first. A submit without keys is never sent twice.
   */
  readonly isKeyed: boolean;
}

export interface LedgerOutput {
  readonly batch: number;
  readonly index: number;
  readonly checksum: number;
}

/** What must happen to a task. */
export interface TaskPlan {
  readonly delayMs: number;
  /** Attempts that fail before one succeeds. */
  readonly failures: number;
}

const PLAIN: TaskPlan = { delayMs: 0, failures: 0 };
const DELAYS_MS = [0, 0, 20, 150, 400];
const FAILURES = [0, 0, 1, 2];
const BACKOFF_MS = 30;

type TaskPlace = Pick<LedgerInput, 'batch' | 'index'>;

/** The output of the handler for an input. */
export function outputOf({ batch, index }: TaskPlace): LedgerOutput {
  return { batch, index, checksum: checksumOf({ batch, index }) };
}

export function planOf(task: TaskPlace & Pick<LedgerInput, 'isKeyed'>): TaskPlan {
  if (!task.isKeyed) return PLAIN;
  const checksum = checksumOf(task);
  return {
    delayMs: DELAYS_MS[checksum % DELAYS_MS.length],
    failures: FAILURES[checksum % FAILURES.length],
  };
}

/** The task as it is submitted. */
export function requestOf(input: LedgerInput): object {
  const { delayMs, failures } = planOf(input);
  const task = { type: TASK_TYPE, input };
  if (!input.isKeyed) return task;
  return {
    ...task,
    dedupeKey: `${input.batch}/${input.index}`,
    delayMs,
    // One more attempt than fail by plan. If a kill spends an attempt, the task fails.
    retry: { maxAttempts: failures + 1, backoff: 'fixed', delayMs: BACKOFF_MS, jitter: false },
  };
}

function checksumOf({ batch, index }: TaskPlace): number {
  return (batch * 31 + index * 7) % 9973;
}
