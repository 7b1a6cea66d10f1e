import { type Event, parseLeaseToken, REASONS } from '@sluice/core';
import type { PushedTask } from '@sluice/protocol';
import type { Simulation } from '../../kernel/simulation.ts';
import type { StoryRule } from '../story/story-rule.ts';

/** The attempts of a task so far. */
interface Tries {
  attempt: number;
  /** How often the task was retried with all its attempts, or was handed back. */
  life: number;
}

/**
 * I4 and I27, as workers see them: under one attempt of a task a handler starts once. A restart of
 * the server, a broken stream or a push that is repeated starts no second one.
 *
 * Only workers that follow the protocol are checked. A worker that denies a lease that it still
 * runs makes the server give the same attempt to another worker.
 */
export class HandlerRuns implements StoryRule {
  private readonly simulation: Simulation;
  private readonly tries = new Map<number, Tries>();
  /** Task, life and attempt of each lease, by lease number. */
  private readonly attempts = new Map<number, string>();
  private readonly startedBy = new Map<string, string>();

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  event(event: Event): void {
    const isNew = event.type === 'task_submitted' || event.type === 'step_submitted';
    if (isNew) this.tries.set(event.task, { attempt: 0, life: 0 });
    const tries = this.tries.get(event.task);
    if (tries === undefined) return;
    if (event.type === 'attempt_leased') {
      tries.attempt += 1;
      this.attempts.set(event.lease, `${event.task}/${tries.life}/${tries.attempt}`);
    } else if (event.type === 'attempt_returned' && !event.spent) {
      tries.attempt -= 1;
      // Its handler may have started, and the next attempt has the same number.
      if (REASONS[event.reason] === 'handed_back') tries.life += 1;
    } else if (event.type === 'task_retried' || event.type === 'task_readmitted') {
      tries.attempt = 0;
      tries.life += 1;
    }
  }

  started({ id, lease }: PushedTask, worker: string): void {
    const attempt = this.attempts.get(parseLeaseToken(lease)?.number ?? 0);
    this.simulation.check(attempt !== undefined, 'I29', () => {
      return `${worker} runs ${id} under ${lease}, which is not in the log`;
    });
    const before = this.startedBy.get(attempt ?? '');
    this.simulation.check(before === undefined, 'I27', () => {
      return `attempt ${attempt} of ${id} starts on ${worker} (${lease}), and had on ${before}`;
    });
    this.startedBy.set(attempt ?? '', `${worker} (${lease})`);
  }

  /**
   * A worker that stops has ended the handler without a report. The attempt is free, also when the
   * worker is gone before the server hears that it was handed back.
   */
  letGo(lease: string): void {
    this.startedBy.delete(this.attempts.get(parseLeaseToken(lease)?.number ?? 0) ?? '');
  }
}
