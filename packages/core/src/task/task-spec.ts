import type { Resources } from './resources.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { Placement } from './shape.ts';
import type { Callback, Tags } from './task-labels.ts';
import type { Timeouts } from './timeouts.ts';

/** A client's description of one task, without its input. */
export interface TaskSpec {
  readonly type: string;
  readonly priority?: number;
  readonly resources?: Resources;
  /** Texts in the syntax of `parseConstraint`; all of them must hold. */
  readonly constraints?: readonly string[];
  /** Without it the setting of the server counts. */
  readonly placement?: Placement;
  readonly retry?: RetryPolicy;
  readonly timeouts?: Timeouts;
  readonly tags?: Tags;
  readonly callback?: Callback;
  /** Id of the parent task. */
  readonly parentId?: string;
  /** Not before this time, or not before this delay after the submit; at most one of the two. */
  readonly runAt?: number;
  readonly delayMs?: number;
}
