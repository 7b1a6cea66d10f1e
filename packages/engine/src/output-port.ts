import type { Outputs, ReadonlyState } from '@sluice/core';
import type { Releasable } from './batch.ts';

/** How outputs leave the engine. The server's streams implement it. */
export interface OutputPort {
  /**
   * Renders the outputs of a command from the state, which is valid only during the call. Nothing
   * may leave yet (L2).
   */
  stage(outputs: Outputs, state: ReadonlyState): void;

  /**
   * Returns everything that was staged since the last call; the engine releases it when it is
   * durable.
   */
  seal(): Releasable | undefined;
}
