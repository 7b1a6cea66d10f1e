import type { Resources } from './resources.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { Callback, Tags } from './task-labels.ts';
import type { Timeouts } from './timeouts.ts';

/** What a client says of one task, beside its input. */
export interface TaskSpec {
  readonly type: string;
  readonly priority?: number;
  readonly resources?: Resources;
  /** Texts that `parseConstraint` takes; all of them must hold. */
  readonly constraints?: readonly string[];
  readonly retry?: RetryPolicy;
  readonly timeouts?: Timeouts;
  readonly tags?: Tags;
  readonly callback?: Callback;
  /** Id of the task that it belongs to. */
  readonly parentId?: string;
  /** Not before this time, or not before so long after the submit; one of the two. */
  readonly runAt?: number;
  readonly delayMs?: number;
}
