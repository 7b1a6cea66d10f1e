import type { ReadonlyState, RecordDeliveryReply } from '@sluice/core';
import type { Exposition } from './exposition.ts';
import { Histogram, LATENCY_BOUNDS_MS } from './histogram.ts';

type Outcome = RecordDeliveryReply['outcome'];

/** Outcomes of callbacks. Tries are counted once they are recorded. */
export class CallbackMetrics {
  private readonly outcomes: Record<Outcome, number> = {
    delivered: 0,
    failed: 0,
    given_up: 0,
    unknown: 0,
  };
  private readonly durationMs = new Histogram(LATENCY_BOUNDS_MS);

  readonly tried = (outcome: Outcome, durationMs: number): void => {
    this.outcomes[outcome] += 1;
    this.durationMs.observe(durationMs);
  };

  write(out: Exposition, { outbox }: ReadonlyState, now: number): void {
    const [oldest] = outbox.pending();
    // A try whose delivery no longer exists is not shown.
    const { unknown: _, ...shown } = this.outcomes;
    out.values(
      'sluice_callbacks_total',
      Object.entries(shown).map(([outcome, count]) => [{ outcome }, count]),
    );
    out.histograms('sluice_callback_seconds', [[{}, this.durationMs]], 0.001);
    out.value('sluice_callbacks_pending', outbox.pendingCount);
    out.value('sluice_callbacks_given_up', outbox.givenUpCount);
    out.value('sluice_callbacks_dropped', outbox.dropped);
    out.value('sluice_callbacks_oldest_seconds', oldest ? Math.max(0, now - oldest.at) / 1000 : 0);
  }
}
