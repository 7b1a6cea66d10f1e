import type { AppendOutcome, BoundedLog, LogBatch } from '@sluice/log';
import { Histogram, LATENCY_BOUNDS_MS, SIZE_BOUNDS } from './histogram.ts';

/** Cost of commits, counted per batch, not per task. */
export class CommitMetrics {
  readonly latencyMs = new Histogram(LATENCY_BOUNDS_MS);
  readonly records = new Histogram(SIZE_BOUNDS);
  bytes = 0;
  /** Start of the append under way; undefined when there is none. */
  appendingSince: number | undefined;
}

/** The same log, with its appends counted. */
export function measuredLog(log: BoundedLog, metrics: CommitMetrics): BoundedLog {
  return {
    get isFull() {
      return log.isFull;
    },
    acquire: () => log.acquire(),
    read: (from, onBatch) => log.read(from, onBatch),
    trim: (trim) => log.trim(trim),
    close: () => log.close(),
    append: (batch) => measuredAppend(log, batch, metrics),
  };
}

async function measuredAppend(
  log: BoundedLog,
  batch: LogBatch,
  metrics: CommitMetrics,
): Promise<AppendOutcome> {
  const startedAt = performance.now();
  metrics.appendingSince = startedAt;
  const outcome = await log.append(batch);
  metrics.appendingSince = undefined;
  metrics.latencyMs.observe(performance.now() - startedAt);
  // A batch that is sent again is counted once.
  if (outcome === 'ok') {
    metrics.records.observe(batch.recordCount);
    metrics.bytes += batch.bytes.length;
  }
  return outcome;
}
