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

/** Whether a command wants anything done. */
export function hasOutputs(outputs: Outputs): boolean {
  return (
    outputs.pushSlots.length > 0 ||
    outputs.endedSlots.length + outputs.endedRuns.length + outputs.evaluations.length > 0 ||
    outputs.startedRuns.length + outputs.overdueRuns.length + outputs.fires.length > 0 ||
    outputs.createdSchedules.length + outputs.delayedFires.length > 0 ||
    outputs.httpNamespaces.length > 0 ||
    outputs.attemptSlots.length > 0 ||
    outputs.cancels.length + outputs.signals.length > 0 ||
    outputs.closedSessions.length > 0 ||
    outputs.deliveries.length > 0
  );
}
