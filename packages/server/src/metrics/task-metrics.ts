import { isTerminal, type Outputs, type ReadonlyState, TASK_STATES } from '@sluice/core';
import type { Exposition } from './exposition.ts';
import { Histogram, LATENCY_BOUNDS_MS } from './histogram.ts';
import { queueDepths } from './queue-depths.ts';

export interface SessionCounts {
  readonly connected: number;
  readonly draining: number;
  readonly away: number;
}

const OUTCOMES = TASK_STATES.map((name, state) => ({ name, state })).filter(({ state }) =>
  isTerminal(state),
);

/**
 * Metrics of tasks, derived from the outputs of commands: a few additions per task, with the times
 * that the core set. Nothing here may be shown before it is durable (L2).
 */
export class TaskMetrics {
  private readonly queueMs = new Histogram(LATENCY_BOUNDS_MS);
  private readonly leaseMs = new Histogram(LATENCY_BOUNDS_MS);
  private readonly finished = new Float64Array(TASK_STATES.length);
  private leased = 0;
  private overdue = 0;
  private deduplicated = 0;
  /** Tasks from this number on are counted; set once the number of existing tasks is known. */
  firstTask = 1;

  /** Runs take numbers of the same sequence, and are not counted as tasks. */
  runsStarted(runs: number): void {
    this.firstTask += runs;
  }

  staged({ pushSlots, endedSlots, overdueRuns }: Outputs, { tasks }: ReadonlyState): void {
    this.overdue += overdueRuns.length;
    this.leased += pushSlots.length;
    for (const slot of pushSlots) this.queueMs.observe(tasks.leasedAt[slot] - tasks.dueAt[slot]);
    for (const slot of endedSlots) {
      this.finished[tasks.state[slot]] += 1;
      if (tasks.attempt[slot] > 0) {
        this.leaseMs.observe(tasks.endedAt[slot] - tasks.leasedAt[slot]);
      }
    }
  }

  recognised(tasks: number): void {
    this.deduplicated += tasks;
  }

  write(out: Exposition, state: ReadonlyState, sessions: SessionCounts): void {
    out.value('sluice_tasks_submitted_total', state.nextTask - this.firstTask);
    out.value('sluice_tasks_deduplicated_total', this.deduplicated);
    out.value('sluice_tasks_leased_total', this.leased);
    out.value('sluice_runs_overdue_total', this.overdue);
    out.values(
      'sluice_tasks_finished_total',
      OUTCOMES.map((outcome) => [{ outcome: outcome.name }, this.finished[outcome.state]]),
    );
    out.histograms('sluice_task_queue_seconds', [[{}, this.queueMs]], 0.001);
    out.histograms('sluice_task_lease_seconds', [[{}, this.leaseMs]], 0.001);
    out.value('sluice_tasks', state.tasks.count);
    out.values(
      'sluice_tasks_queued',
      queueDepths(state).map((depth, level) => [{ priority: String(level) }, depth]),
    );
    out.value('sluice_tasks_finished', state.finished.length);
    out.value('sluice_dead_letters', state.deadLetters.count);
    out.value('sluice_dedupe_keys', state.dedupe.count);
    out.values(
      'sluice_worker_sessions',
      Object.entries(sessions).map(([name, count]) => [{ state: name }, count]),
    );
    out.value('sluice_payload_bytes', state.payloads.liveBytes);
    out.value('sluice_payload_chunks', state.payloads.chunkCount);
  }
}
