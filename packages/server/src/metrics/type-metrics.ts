import {
  ATTEMPT_OUTCOMES,
  type Outputs,
  type ReadonlyState,
  RUN_DELIVERIES,
  taskTypeOf,
} from '@sluice/core';
import { oldestAgeMs } from '../queues/queue-views.ts';
import type { Exposition, Labels } from './exposition.ts';
import { type TypeRow, TypeRows } from './type-rows.ts';

/** For this outcome and later ones, nobody knows how long the handler ran. */
const LOST = ATTEMPT_OUTCOMES.indexOf('lost');

/** What a type has at the moment of a scrape. */
interface TypeTotals {
  queued: number;
  running: number;
  deadLetters: number;
  oldestMs: number;
}

/**
 * Metrics by task type. A lease and the end of an attempt cost a few additions each; everything
 * else happens at a scrape. Nothing here may be shown before it is durable (L2).
 */
export class TypeMetrics {
  private readonly rows = new TypeRows();
  private leasesLost = 0;

  staged(outputs: Outputs, { tasks, queues }: ReadonlyState): void {
    const { pushSlots, attemptSlots, attemptOutcomes, attemptMs } = outputs;
    for (const slot of pushSlots) {
      const { waitMs } = this.rows.of(queues[tasks.queue[slot]]);
      waitMs.observe(tasks.leasedAt[slot] - tasks.dueAt[slot]);
    }
    for (let i = 0; i < attemptSlots.length; i++) {
      const row = this.rows.of(queues[tasks.queue[attemptSlots[i]]]);
      const outcome = attemptOutcomes[i];
      row.attempts[outcome] += 1;
      if (outcome === LOST) this.leasesLost += 1;
      if (outcome < LOST) row.durationMs.observe(attemptMs[i]);
    }
  }

  write(out: Exposition, state: ReadonlyState, now: number): void {
    const totals = this.totals(state, now);
    const { other } = this.rows;
    const shown = [...this.rows.shown];
    if (totals.has(other) || isCounted(other)) shown.push(other);
    const rows = shown.map((row) => {
      return { row, labels: labelsOf(row), now: totals.get(row) ?? NOTHING };
    });
    const gauges = (read: (total: TypeTotals) => number) =>
      rows.map((each) => [each.labels, read(each.now)] as const);
    out.values(
      'sluice_type_queued',
      gauges(({ queued }) => queued),
    );
    out.values(
      'sluice_type_oldest_seconds',
      gauges(({ oldestMs }) => oldestMs / 1000),
    );
    out.values(
      'sluice_type_running',
      gauges(({ running }) => running),
    );
    out.values(
      'sluice_type_dead_letters',
      gauges(({ deadLetters }) => deadLetters),
    );
    out.values(
      'sluice_type_attempts_total',
      rows.flatMap(({ row, labels }) =>
        ATTEMPT_OUTCOMES.map((outcome, i) => [{ ...labels, outcome }, row.attempts[i]] as const),
      ),
    );
    const series = (name: 'waitMs' | 'durationMs') =>
      rows.map(({ row, labels }) => [labels, row[name]] as const);
    out.histograms('sluice_type_wait_seconds', series('waitMs'), 0.001);
    out.histograms('sluice_type_duration_seconds', series('durationMs'), 0.001);
    out.value('sluice_leases_lost_total', this.leasesLost);
  }

  /** Ranks the types by what they have now, and adds it up by row. */
  private totals(state: ReadonlyState, now: number): Map<TypeRow, TypeTotals> {
    const running = heldByPlace(state);
    const inUse = state.queues.filter(
      ({ isFree, key }) => !isFree && taskTypeOf(key) !== RUN_DELIVERIES,
    );
    this.rows.rank(inUse, ({ depth, index }) => depth + running[index]);
    const totals = new Map<TypeRow, TypeTotals>();
    for (const queue of inUse) {
      const row = this.rows.of(queue);
      const total = totals.get(row) ?? { ...NOTHING };
      totals.set(row, total);
      total.queued += queue.depth;
      total.running += running[queue.index];
      total.deadLetters += state.deadLetters.countOfQueue(queue.index);
      total.oldestMs = Math.max(total.oldestMs, oldestAgeMs(state, queue, now) ?? 0);
    }
    return totals;
  }
}

const NOTHING: TypeTotals = { queued: 0, running: 0, deadLetters: 0, oldestMs: 0 };

/** Tasks that workers hold, by the place of their queue. */
function heldByPlace({ holders, tasks, queues }: ReadonlyState): Uint32Array {
  const held = new Uint32Array(queues.length);
  for (const { session } of holders.holding()) {
    holders.forEachHeld(holders.find(session), (slot) => {
      held[tasks.queue[slot]] += 1;
    });
  }
  return held;
}

function isCounted({ attempts, waitMs }: TypeRow): boolean {
  return attempts.some((count) => count > 0) || waitMs.counts.some((count) => count > 0);
}

/** No namespace is empty, so a type that is called `other` stands apart from the sum. */
function labelsOf({ namespace, type }: TypeRow): Labels {
  return namespace === '' ? { type } : { namespace, type };
}
