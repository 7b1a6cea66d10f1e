import { type Command, NO_SLOT, parseLeaseToken, REASONS, type Replies } from '@sluice/core';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';
import { timeoutsOf } from './story/policies.ts';

/** A running server receives its alarm within this time. Computing takes no time in a world. */
const TIMER_LATE_MS_MAX = 20;

/** The partition's time jumped if it moved this much further than the world's time. */
const STEP_MS = 20;

/** A tick twice per second looks at the sessions. */
const TICK_LATE_MS_MAX = 2000;

/** Factor on the patience with a silent worker: a clock that was set back catches up slowly. */
const SLOW_CLOCK = 1.2;

/** Clocks run a little fast, and a server notices only standstills of some length. */
const FAST_CLOCK = 0.98;
const NOTICED_MS = 1000;

/** A jump of more than a minute must last for ten seconds, by either clock. */
const JUMP_MS = 61_000;
const CONFIRMED_MS = 9500;
const CONFIRMATION_MS = 11_000;

/**
 * Whatever is due happens soon while the server runs and does not wait for its disk:
 * I18 and I20: timers fire. I27: a worker that is silent for too long keeps nothing. And nobody is
 * called silent while nobody listened, because the server stood still or its clock was set.
 *
 * Times here are the world's, because the server's own clock may be set at any moment.
 */
export class Punctuality implements Checker {
  readonly name = 'punctuality';
  private readonly simulation: Simulation;
  private readonly graceMsMin: number;
  /** Since when the server is free to do what is due. */
  private runningSince = 0;
  private overdueSince: number | undefined;
  /** The value to which the alarm has been set since the last command. */
  private alarmAt = Number.POSITIVE_INFINITY;
  /** At the last command the disk was behind, so no timer fired and no lease was granted. */
  private wasResting = false;
  /** How far the partition's time jumped since the last command. */
  private jumpMs = 0;
  /** When the clock was first set since the last jump; both clocks at the last command. */
  private clockSetAt: number | undefined;
  private last: readonly [partition: number, world: number] | undefined;
  /** Since when the server could receive requests. */
  private listeningSince = 0;
  /** When the current standstill began, and the value of `listeningSince` before it. */
  private stalledAt = 0;
  private listenedSince = 0;
  /** Until this time, a clock that was set may make the server wait for its workers again. */
  private patientUntil = 0;
  /** When each session last spoke, and when it last spoke or was given something. */
  private readonly spokeAt = new Map<string, number>();
  private readonly heardAt = new Map<string, number>();
  /** For each session: the newest value, and the largest since the server started. */
  private readonly leaseMs = new Map<string, number>();
  private readonly longestLeaseMs = new Map<string, number>();
  /** When the holder of each slot last mentioned it, or received it. */
  private readonly namedAt = new Map<number, number>();
  /** Slots whose holders were told to stop. A holder that could not be reached is told again. */
  private readonly stopping = new Set<number>();

  constructor(simulation: Simulation, graceMsMin: number) {
    this.simulation = simulation;
    this.graceMsMin = graceMsMin;
  }

  booted(partition: WatchedPartition): void {
    this.runningSince = this.simulation.now;
    this.listeningSince = this.simulation.now;
    this.patientUntil = 0;
    this.overdueSince = undefined;
    this.alarmAt = Number.POSITIVE_INFINITY;
    this.wasResting = false;
    this.last = undefined;
    this.spokeAt.clear();
    this.heardAt.clear();
    this.leaseMs.clear();
    this.namedAt.clear();
    this.stopping.clear();
    this.noteStopping(partition);
    this.longestLeaseMs.clear();
    const holders = partition.state.holders.holding();
    for (const { session, leaseMs } of holders) this.offer(session, leaseMs);
  }

  stalled(forMs: number): void {
    const { now } = this.simulation;
    this.runningSince = Math.max(this.runningSince, now + forMs);
    if (forMs <= NOTICED_MS) return;
    if (this.listeningSince <= now) {
      this.stalledAt = now;
      this.listenedSince = this.listeningSince;
    }
    this.listeningSince = Math.max(this.listeningSince, now + forMs);
  }

  /**
   * The next process takes the clock as it is. A jump cannot mislead a process that is starting.
   */
  stopped(): void {
    this.clockSetAt = undefined;
  }

  clockSet(): void {
    this.clockSetAt ??= this.simulation.now;
    this.patientUntil = this.simulation.now + CONFIRMATION_MS;
  }

  woken(): void {
    const { now } = this.simulation;
    this.runningSince = Math.min(this.runningSince, now);
    if (this.listeningSince <= now) return;
    const isNoticed = now - this.stalledAt > NOTICED_MS;
    this.listeningSince = isNoticed ? now : this.listenedSince;
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    const { now } = this.simulation;
    this.lookAtClock(command.now);
    const isResting = !partition.grantsLeases;
    // Whether the rest ended at this command or earlier, the alarm was off until then.
    if (isResting || this.wasResting) this.runningSince = Math.max(this.runningSince, now);
    this.wasResting = isResting;
    if (command.type === 'expire_sessions') this.lookAtLost(partition.outputs.closedSessions);
    if (command.type === 'advance_time') {
      this.lookAtStops(partition);
      this.noteStopping(partition);
    }
    if ('session' in command) this.heardAt.set(command.session, now);
    this.listen(command, reply);
    for (const id of partition.outputs.pushSessions) this.heardAt.set(id, now);
    for (const slot of partition.outputs.pushSlots) {
      this.namedAt.set(slot, now);
      this.stopping.delete(slot);
    }
    this.lookAtTimers(Math.max(command.now, partition.state.now), partition);
    if (command.type === 'advance_time' || command.type === 'session_read') return;
    this.lookAtSessions(partition);
  }

  /** L8: a jump of more than a minute is believed once it has lasted. */
  private lookAtClock(partitionNow: number): void {
    const { now } = this.simulation;
    const [lastPartition, lastWorld] = this.last ?? [partitionNow, now];
    this.last = [partitionNow, now];
    const jumpMs = partitionNow - lastPartition - (now - lastWorld);
    this.jumpMs = jumpMs;
    if (jumpMs < JUMP_MS) return;
    const isLasting = now - (this.clockSetAt ?? now) >= CONFIRMED_MS;
    this.simulation.check(isLasting, 'I18', () => {
      return `time jumps by ${Math.round(jumpMs)} ms as soon as the clock is set`;
    });
    this.clockSetAt = undefined;
  }

  private lookAtTimers(partitionNow: number, { nextTimerAt }: WatchedPartition): void {
    const { now } = this.simulation;
    const wasKnown = nextTimerAt === this.alarmAt;
    this.alarmAt = nextTimerAt;
    if (nextTimerAt > partitionNow) {
      this.overdueSince = undefined;
      return;
    }
    // A timer that this command set in the past, or that a jump made due, counts as late from now
    // on.
    const hasWaited = wasKnown && this.jumpMs <= STEP_MS;
    this.overdueSince ??= hasWaited ? now - (partitionNow - nextTimerAt) : now;
    const lateMs = now - Math.max(this.overdueSince, this.runningSince);
    this.simulation.check(lateMs <= TIMER_LATE_MS_MAX, 'I18', () => {
      return `a timer is due at ${nextTimerAt}, and has not fired for ${Math.round(lateMs)} ms`;
    });
  }

  private listen(command: Command, reply: unknown): void {
    const { now } = this.simulation;
    if (command.type === 'report_attempts') {
      const { outcomes } = reply as Replies['report_attempts'];
      const taken = command.reports.filter((_, place) => outcomes[place] === 'ok');
      this.noteNamed(taken.map(({ lease }) => lease));
      this.spokeAt.set(command.session, now);
    } else if (command.type === 'attach_session') {
      const { rejection, session, lost } = reply as Replies['attach_session'];
      if (rejection !== undefined) return;
      this.noteNamed(command.resume?.running.filter((lease) => !lost.includes(lease)) ?? []);
      this.spokeAt.set(session, now);
      this.heardAt.set(session, now);
      this.offer(session, command.leaseMs);
    }
  }

  private offer(session: string, leaseMs: number): void {
    this.leaseMs.set(session, leaseMs);
    const before = this.longestLeaseMs.get(session) ?? 0;
    this.longestLeaseMs.set(session, Math.max(before, leaseMs));
  }

  private noteNamed(leases: readonly string[]): void {
    const { now } = this.simulation;
    for (const lease of leases) this.namedAt.set(parseLeaseToken(lease)?.slot ?? NO_SLOT, now);
  }

  private lookAtStops({ state, outputs }: WatchedPartition): void {
    const { now } = this.simulation;
    const { tasks, texts } = state;
    for (const { slot, reason } of outputs.cancels) {
      if (this.stopping.has(slot) || REASONS[reason] !== 'heartbeat_timeout') continue;
      this.stopping.add(slot);
      const silentMs = now - Math.max(this.namedAt.get(slot) ?? 0, this.listeningSince);
      const { heartbeatMs } = timeoutsOf(texts.timeouts.textAt(tasks.timeouts[slot]));
      this.simulation.check(silentMs >= heartbeatMs * FAST_CLOCK - NOTICED_MS, 'I20', () => {
        return `task ${tasks.number[slot]} is stopped after ${Math.round(silentMs)} ms of silence`;
      });
    }
  }

  /**
   * This includes slots whose holder is disconnected. It is told when it returns, or by a later
   * timer.
   */
  private noteStopping({ state }: WatchedPartition): void {
    const { capacity, stop } = state.tasks;
    for (let slot = 0; slot < capacity; slot++) if (stop[slot] !== 0) this.stopping.add(slot);
  }

  private lookAtLost(sessions: readonly string[]): void {
    const { now } = this.simulation;
    for (const id of sessions) {
      const silentMs = now - Math.max(this.spokeAt.get(id) ?? 0, this.listeningSince);
      const patienceMs = (this.leaseMs.get(id) ?? 0) * FAST_CLOCK - NOTICED_MS;
      this.simulation.check(silentMs >= patienceMs, 'I27', () => {
        return `${id} is lost after ${Math.round(silentMs)} ms of silence`;
      });
    }
  }

  private lookAtSessions({ state }: WatchedPartition): void {
    const { now } = this.simulation;
    for (const { session } of state.holders.holding()) {
      const leaseMs = this.longestLeaseMs.get(session) ?? 0;
      const since = Math.max(this.runningSince, this.patientUntil);
      const silentMs = now - Math.max(this.heardAt.get(session) ?? 0, since);
      const patienceMs = Math.max(this.graceMsMin, leaseMs * 1.5) * SLOW_CLOCK + TICK_LATE_MS_MAX;
      this.simulation.check(silentMs <= patienceMs, 'I27', () => {
        return `${session} is silent for ${Math.round(silentMs)} ms and keeps what it holds`;
      });
    }
  }
}
