import type { Command } from '@sluice/core';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './checker.ts';

/** A server that runs has heard its alarm by then, even if its clock was set meanwhile. */
const LATE_MS_MAX = 2000;

/** Of the patience with a silent worker: a clock that was set back makes up for it slowly. */
const SLOW_CLOCK = 1.2;

/**
 * What is due happens soon, whenever the server runs and does not wait for its disk:
 * I18 and I20: timers fire. I27: a worker that is silent for too long keeps nothing.
 *
 * Times here are the world's, because the server's own clock may be set at any moment.
 */
export class Punctuality implements Checker {
  readonly name = 'punctuality';
  private readonly simulation: Simulation;
  private readonly graceMsMin: number;
  /** Since when nothing keeps the server from doing what is due. */
  private runningSince = 0;
  private overdueSince: number | undefined;
  /** When each session was heard of, or was given something. */
  private readonly heardAt = new Map<string, number>();

  constructor(simulation: Simulation, graceMsMin: number) {
    this.simulation = simulation;
    this.graceMsMin = graceMsMin;
  }

  booted(): void {
    this.runningSince = this.simulation.now;
    this.overdueSince = undefined;
    this.heardAt.clear();
  }

  stalled(forMs: number): void {
    this.runningSince = Math.max(this.runningSince, this.simulation.now + forMs);
  }

  executed(command: Command, _reply: unknown, partition: WatchedPartition): void {
    const { now } = this.simulation;
    if (!partition.grantsLeases) this.runningSince = Math.max(this.runningSince, now);
    if ('session' in command) this.heardAt.set(command.session, now);
    if (command.type === 'attach_session' && command.resume !== undefined) {
      this.heardAt.set(command.resume.session, now);
    }
    for (const id of partition.outputs.pushSessions) this.heardAt.set(id, now);
    this.lookAtTimers(Math.max(command.now, partition.state.now), partition);
    if (command.type === 'advance_time' || command.type === 'session_read') return;
    this.lookAtSessions(partition);
  }

  private lookAtTimers(partitionNow: number, { nextTimerAt }: WatchedPartition): void {
    const { now } = this.simulation;
    if (nextTimerAt > partitionNow) {
      this.overdueSince = undefined;
      return;
    }
    this.overdueSince ??= now;
    const lateMs = now - Math.max(this.overdueSince, this.runningSince);
    this.simulation.check(lateMs <= LATE_MS_MAX, 'I18', () => {
      return `a timer is due at ${nextTimerAt}, and has not fired for ${Math.round(lateMs)} ms`;
    });
  }

  private lookAtSessions({ state }: WatchedPartition): void {
    const { now } = this.simulation;
    for (const { session, leaseMs } of state.holders.holding()) {
      const silentMs = now - Math.max(this.heardAt.get(session) ?? 0, this.runningSince);
      const patienceMs = Math.max(this.graceMsMin, leaseMs * 1.5) * SLOW_CLOCK + LATE_MS_MAX;
      this.simulation.check(silentMs <= patienceMs, 'I27', () => {
        return `${session} is silent for ${Math.round(silentMs)} ms and keeps what it holds`;
      });
    }
  }
}
