import type { AttemptEvent, Sluice } from '@sluice/sdk';
import { chargeCard } from './charge-card.ts';

/** The part of an error tracker that is used here. */
export interface ErrorTracker {
  captureException(error: unknown, context: { tags: Record<string, string> }): void;
}

/** Reports a failure once, when no attempt is left. */
export function reportFailures(tracker: ErrorTracker) {
  return (event: AttemptEvent): void => {
    if (event.type !== 'failed' || event.willRetry) return;
    const { taskId, taskType } = event;
    tracker.captureException(event.error, { tags: { taskId, taskType } });
  };
}

export async function workWatched(sluice: Sluice, tracker: ErrorTracker): Promise<void> {
  const worker = await sluice.work([chargeCard], { onAttempt: reportFailures(tracker) });

  await worker.stopped;
}
