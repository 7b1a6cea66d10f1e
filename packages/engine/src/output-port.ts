import type { Outputs, ReadonlyState } from '@sluice/core';
import type { Releasable } from './batch.ts';

/** How outputs get out of the engine. The server's streams implement it. */
export interface OutputPort {
  /**
   * Takes what a command wants done and renders it from the state, which is valid only during the
   * call. Nothing may get out yet (L2).
   */
  stage(outputs: Outputs, state: ReadonlyState): void;

  /**
   * Hands over all that was staged since the last call; the engine releases it when it is durable.
   */
  seal(): Releasable | undefined;
}
