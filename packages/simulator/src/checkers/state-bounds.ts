import type { Command, PartitionLimits, ReadonlyState } from '@sluice/core';
import { stateProblems } from '@sluice/core/testing/state-problems';
import type { LogBatch } from '@sluice/log';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';

/** Commands that free memory before they add something. */
const MAKE_ROOM: readonly Command['type'][] = ['submit_tasks', 'report_attempts', 'advance_time'];

/** Every task is checked, so looks are rarer when there are more tasks. */
const COMMANDS_PER_LOOK_MIN = 100;

/** Maximum size of one append: all that may wait for the disk, and one more command. */
const BATCH_BYTES_MAX = 24 * 2 ** 20;

/** Rule numbers of the simulator, by the labels that the core gives its problems. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/^queue\./, 'I13'],
  [/^state\.one-timer|timers/, 'I38'],
  [/^state\.one-list/, 'I1'],
];

/**
 * I13: lists, bitmap and depths of the queues say the same.
 * I37: every slot, byte of a payload and interned text is used by exactly those tasks that say so.
 * I38: every task that has a deadline has a timer there, and the wheel will be looked at by then.
 * I40: tasks, finished tasks, dead letters, keys, sessions and batches stay within their bounds.
 */
export class StateBounds implements Checker {
  readonly name = 'state bounds';
  private readonly simulation: Simulation;
  private readonly limits: PartitionLimits;
  /** Whether finished tasks stay in memory until a consumer of the log has read them. */
  private readonly waitsForConsumer: boolean;
  private commands = 0;

  constructor(simulation: Simulation, limits: PartitionLimits, waitsForConsumer: boolean) {
    this.simulation = simulation;
    this.limits = limits;
    this.waitsForConsumer = waitsForConsumer;
  }

  booted({ state }: WatchedPartition): void {
    this.look(state);
  }

  executed(command: Command, _reply: unknown, partition: WatchedPartition): void {
    this.checkBounds(command, partition);
    this.commands += 1;
    const count = partition.state.tasks.count;
    if (this.commands >= COMMANDS_PER_LOOK_MIN + 2 * count) this.look(partition.state);
  }

  committed({ bytes }: LogBatch): void {
    this.within(bytes.length, BATCH_BYTES_MAX, 'bytes in a batch');
  }

  private checkBounds({ type }: Command, { state, outputs, sessionCount }: WatchedPartition): void {
    const { limits } = this;
    this.within(state.tasks.count, limits.tasksMax, 'tasks');
    this.within(state.dedupe.count, limits.dedupeKeysMax, 'keys');
    // A starting server expects every session with leases, even above its limit.
    if (type === 'attach_session') this.within(sessionCount, limits.sessionsMax, 'sessions');
    if (!MAKE_ROOM.includes(type)) return;
    const ended = outputs.endedSlots.length;
    this.within(state.deadLetters.count, limits.deadLettersMax + ended, 'dead letters');
    if (this.waitsForConsumer) return;
    this.within(state.finished.length, limits.finishedTasksMax + ended, 'finished tasks');
  }

  private within(count: number, most: number, what: string): void {
    this.simulation.check(count <= most, 'I40', () => `${count} ${what}, and ${most} are the most`);
  }

  private look(state: ReadonlyState): void {
    this.commands = 0;
    const [problem] = stateProblems(state);
    const rule = RULES.find(([pattern]) => pattern.test(problem ?? ''))?.[1] ?? 'I37';
    this.simulation.check(problem === undefined, rule, problem ?? '');
    // A timer that was overdue when it was set fires at the current time.
    const firstTimer = Math.max(earliestTimer(state), state.now);
    this.simulation.check(state.timers.earliest() <= firstTimer, 'I38', () => {
      return `a timer is due at ${firstTimer}, the wheel rests until ${state.timers.earliest()}`;
    });
  }
}

function earliestTimer({ tasks, timers }: ReadonlyState): number {
  let earliest = Number.POSITIVE_INFINITY;
  for (let slot = 0; slot < tasks.capacity; slot++) {
    if (tasks.number[slot] === 0 || !timers.has(slot as never)) continue;
    earliest = Math.min(earliest, tasks.timerAt[slot]);
  }
  return earliest;
}
