/**
 * Judges a journal: did the servers that were killed keep the promises of the contract?
 *
 * - An acknowledged task ends `succeeded` with the output of its input.
 * - An attempt runs once, and one attempt finishes the task.
 * - A task is not pushed while a worker holds a lease for it: received, its final report not
 *   answered, and not named in `welcome.lost`. Whoever reported a failure holds no more.
 * - A kill spends no attempt: a task has those that failed by plan, and one.
 * - `welcome.lost` names only leases whose final report had been sent.
 * - A final report hears `ok`; one that was sent again may hear `duplicate` instead, or
 *   `stale_lease` if it told of a failure, because the next attempt may have begun.
 * - Of a submit all tasks exist or none, each once, under the ids of the acknowledgement. One with
 *   keys is sent until it is acknowledged, and always under the same ids.
 * - The server answers as it should, and ends only when it is killed.
 * - A task with a delay is not pushed before it is over.
 */
import type { Outcome } from '../support/worker-client.ts';
import type { Entry, JournalTask } from './journal.ts';
import { type LedgerInput, outputOf, planOf } from './ledger-task.ts';

export type Rule =
  | 'lost'
  | 'finished_twice'
  | 'pushed_while_held'
  | 'attempt_spent'
  | 'lease_lost'
  | 'wrong_outcome'
  | 'half_batch'
  | 'early'
  | 'wrong_answer';

interface Violation {
  readonly rule: Rule;
  readonly problem: string;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** What the history contains, to show that there was something to judge. */
  readonly counts: {
    acked: number;
    pushed: number;
    /** Leases listed in a resume: they were held while the server was down. */
    resumed: number;
    sentAgain: number;
    duplicates: number;
    unanswered: number;
    /** Submits with keys that were sent again. */
    resubmitted: number;
    /** Attempts that failed by plan. */
    failures: number;
    /** Tasks with a delay. */
    delayed: number;
  };
}

interface TaskRecord {
  readonly failuresPlanned: number;
  heldLease: string | undefined;
  executions: number;
  /** Attempts whose failure was reported, answered or not. */
  failures: number;
  successes: number;
}

interface LeaseRecord {
  readonly task: string;
  readonly isFailure: boolean;
  reports: number;
}

interface BatchRecord {
  readonly size: number;
  readonly isKeyed: boolean;
  /** When it was first sent. */
  readonly at: number;
  /** By index, as pushed. */
  readonly pushed: Map<number, string>;
  /** Undefined unless the submit was acknowledged. */
  acked: readonly string[] | undefined;
}

type Ended = Extract<Entry, { kind: 'ended' }>;
type Submit = Extract<Entry, { kind: 'submit' }>;

/** Two processes read the same clock in whole milliseconds, and it may be adjusted slightly. */
const CLOCK_TOLERANCE_MS = 10;

export function judge(entries: Iterable<Entry>): Verdict {
  const judging = new Judging();
  for (const entry of entries) judging.take(entry);
  return judging.finish();
}

class Judging {
  private readonly violations: Violation[] = [];
  private readonly counts = {
    acked: 0,
    pushed: 0,
    resumed: 0,
    sentAgain: 0,
    duplicates: 0,
    unanswered: 0,
    resubmitted: 0,
    failures: 0,
    delayed: 0,
  };
  private readonly tasks = new Map<string, TaskRecord>();
  private readonly leases = new Map<string, LeaseRecord>();
  private readonly batches = new Map<number, BatchRecord>();
  private readonly ended = new Map<string, Ended>();

  take(entry: Entry): void {
    switch (entry.kind) {
      case 'submit':
        return this.takeSubmit(entry);
      case 'acked':
        return this.takeAck(entry.batch, entry.ids);
      case 'unanswered':
        this.counts.unanswered += 1;
        return;
      case 'resuming':
        this.counts.resumed += entry.running.length;
        return;
      case 'welcomed':
        for (const lease of entry.lost) this.takeLost(lease);
        return;
      case 'pushed':
        for (const task of entry.tasks) this.takePush(task, entry.at);
        return;
      case 'executed':
        return this.takeExecution(entry.task);
      case 'reporting':
        for (const lease of entry.leases) this.takeReport(lease);
        return;
      case 'answered':
        entry.leases.forEach((lease, index) => {
          this.takeOutcome(lease, entry.outcomes[index]);
        });
        return;
      case 'stopping':
      case 'killing':
        return;
      case 'unexpected':
        return this.blame('wrong_answer', entry.problem);
      case 'ended':
        this.ended.set(entry.task, entry);
        return;
    }
  }

  finish(): Verdict {
    for (const [number, batch] of this.batches) {
      this.checkAckedTasks(number, batch);
      this.checkWhole(number, batch);
    }
    for (const [id, { heldLease }] of this.tasks) {
      if (heldLease === undefined) continue;
      this.blame('lost', `task ${id} was pushed as ${heldLease} and never finished`);
    }
    return { violations: this.violations, counts: this.counts };
  }

  private takeSubmit({ batch, size, isKeyed, at }: Submit): void {
    if (this.batches.has(batch)) this.counts.resubmitted += 1;
    else this.batches.set(batch, { size, isKeyed, at, pushed: new Map(), acked: undefined });
  }

  private takeAck(number: number, ids: readonly string[]): void {
    const batch = this.batches.get(number);
    const before = batch?.acked;
    if (before !== undefined) {
      if (before.join() === ids.join()) return;
      this.blame('wrong_answer', `submit ${number} was acknowledged as ${before}, then as ${ids}`);
      return;
    }
    this.counts.acked += ids.length;
    if (batch !== undefined) batch.acked = ids;
    if (batch?.size === ids.length) return;
    this.blame('wrong_answer', `submit ${number} was acknowledged with ${ids.length} ids`);
  }

  private takePush(pushed: JournalTask, at: number): void {
    const { id, lease, attempt, batch, index } = pushed;
    this.counts.pushed += 1;
    const plan = planOf(pushed);
    const task = this.tasks.get(id) ?? {
      failuresPlanned: plan.failures,
      heldLease: undefined,
      executions: 0,
      failures: 0,
      successes: 0,
    };
    this.tasks.set(id, task);
    this.leases.set(lease, { task: id, isFailure: attempt <= plan.failures, reports: 0 });
    if (task.heldLease !== undefined) {
      this.blame('pushed_while_held', `task ${id}: ${lease} while ${task.heldLease} is held`);
    }
    task.heldLease = lease;
    if (attempt > task.failures + 1) {
      this.blame('attempt_spent', `task ${id} was pushed as attempt ${attempt}`);
    }
    this.checkTime(pushed, at);

    const known = this.batches.get(batch)?.pushed;
    const before = known?.get(index);
    if (before !== undefined && before !== id) {
      this.blame('finished_twice', `submit ${batch}, task ${index} exists as ${before} and ${id}`);
    }
    known?.set(index, id);
  }

  private checkTime(task: JournalTask, at: number): void {
    const { delayMs } = planOf(task);
    if (delayMs === 0) return;
    if (task.attempt === 1) this.counts.delayed += 1;
    const dueAt = (this.batches.get(task.batch)?.at ?? 0) + delayMs;
    if (at >= dueAt - CLOCK_TOLERANCE_MS) return;
    this.blame('early', `task ${task.id} was pushed ${dueAt - at} ms before its time`);
  }

  private takeLost(lease: string): void {
    const record = this.leases.get(lease);
    if (record === undefined || record.reports === 0) {
      this.blame('lease_lost', `lease ${lease} is lost, and its end was never reported`);
    }
    this.letGo(lease);
  }

  private takeExecution(id: string): void {
    const task = this.tasks.get(id);
    if (task === undefined) return;
    task.executions += 1;
    if (task.executions > task.failuresPlanned + 1) {
      this.blame('finished_twice', `task ${id} was run to its end ${task.executions} times`);
    }
  }

  private takeReport(lease: string): void {
    const record = this.leases.get(lease);
    if (record === undefined) return;
    record.reports += 1;
    if (record.reports > 1) this.counts.sentAgain += 1;
    if (record.reports > 1 || !record.isFailure) return;
    const task = this.tasks.get(record.task);
    if (task !== undefined) task.failures += 1;
    this.counts.failures += 1;
    this.letGo(lease);
  }

  private takeOutcome(lease: string, outcome: Outcome | undefined): void {
    const record = this.leases.get(lease);
    const task = record === undefined ? undefined : this.tasks.get(record.task);
    if (record === undefined || task === undefined) return;
    this.letGo(lease);
    const wasSentAgain = record.reports > 1;
    if (outcome === 'ok') {
      if (record.isFailure) return;
      task.successes += 1;
      if (task.successes === 1) return;
      const problem = `task ${record.task} heard ok for ${task.successes} final reports`;
      this.blame('finished_twice', problem);
    } else if (outcome === 'duplicate' && wasSentAgain) {
      this.counts.duplicates += 1;
    } else if (outcome !== 'stale_lease' || !wasSentAgain || !record.isFailure) {
      const sent = `report ${record.reports} on ${lease} (task ${record.task})`;
      this.blame('wrong_outcome', `${sent} heard ${outcome ?? 'nothing'}`);
    }
  }

  private letGo(lease: string): void {
    const task = this.tasks.get(this.leases.get(lease)?.task ?? '');
    if (task?.heldLease === lease) task.heldLease = undefined;
  }

  private checkAckedTasks(number: number, { acked, pushed, isKeyed }: BatchRecord): void {
    if (acked === undefined && isKeyed) {
      this.blame('wrong_answer', `submit ${number} has keys and was never acknowledged`);
    }
    acked?.forEach((id, index) => {
      this.checkEnd(id, { batch: number, index, isKeyed });
      const seen = pushed.get(index);
      if (seen === id) return;
      const problem = `submit ${number}, task ${index}: acknowledged as ${id}, pushed as ${seen}`;
      this.blame(seen === undefined ? 'lost' : 'wrong_answer', problem);
    });
  }

  private checkEnd(id: string, input: Omit<LedgerInput, 'size'>): void {
    const ended = this.ended.get(id);
    if (ended?.state !== 'succeeded') {
      this.blame('lost', `task ${id} was acknowledged and is ${ended?.state ?? 'not looked up'}`);
      return;
    }
    if (JSON.stringify(ended.output) !== JSON.stringify(outputOf(input))) {
      this.blame('lost', `task ${id} has the output ${JSON.stringify(ended.output)}`);
    }
    if (ended.attempt !== planOf(input).failures + 1) {
      this.blame('attempt_spent', `task ${id} ended in attempt ${ended.attempt}`);
    }
  }

  private checkWhole(number: number, { size, pushed }: BatchRecord): void {
    if (pushed.size === 0 || pushed.size === size) return;
    this.blame('half_batch', `submit ${number}: ${pushed.size} of ${size} tasks exist`);
  }

  private blame(rule: Rule, problem: string): void {
    this.violations.push({ rule, problem });
  }
}
