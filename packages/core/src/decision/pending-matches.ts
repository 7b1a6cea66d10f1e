import type { Slot } from '../base/ids.ts';
import type { Event, EventOf } from '../events/events.ts';
import type { ReadonlyLane, ReadonlyState } from '../state/state.ts';
import { isHeld, QUEUED } from '../task/task-state.ts';
import type { Roster, Session } from '../workers/roster.ts';
import { mayTake } from './waiting-line.ts';

/** Marks a slot without a task. */
const NO_TASK = -1;

/** Limits on what accumulates while nothing is matched (L9). */
const LANES_MIN = 1000;
const JOINED_MAX = 1000;

/**
 * Collects what a command leaves to be matched. It sees every event before and after it is applied.
 * So capacity sums are right and no session is missed, whichever event ends a lease or readies a
 * task.
 */
export class PendingMatches {
  /**
   * Lanes that were empty until a task joined them. A lane that was not empty needs no match: its
   * waiting tasks show that no session has room for its shape (matching.no-idle-fit).
   */
  private lanes: ReadonlyLane[] = [];
  /** At this length the list of lanes is cleared of closed lanes. */
  private lanesMax = LANES_MIN;
  /** Tasks that became ready in lanes that were not empty. */
  private readonly joined: Slot[] = [];
  private readonly state: ReadonlyState;
  private readonly roster: Roster;
  private readonly sessions: Session[] = [];
  /** The task's state and order before the current event. */
  private stateBefore = NO_TASK;
  private orderBefore = 0;

  constructor(state: ReadonlyState, roster: Roster) {
    this.state = state;
    this.roster = roster;
  }

  /** The session may have new room, or may now accept a task that it could not take before. */
  add(session: Session): void {
    if (session.isPending) return;
    session.isPending = true;
    this.sessions.push(session);
  }

  get hasLanes(): boolean {
    return this.lanes.length > 0;
  }

  /** The lane, if there is exactly one. */
  takeOnlyLane(): ReadonlyLane | undefined {
    return this.lanes.length === 1 ? this.lanes.pop() : undefined;
  }

  /** Each lane once, however often it opened. */
  takeLanes(): ReadonlyLane[] {
    const lanes = [...new Set(this.lanes)];
    this.lanes = [];
    this.lanesMax = LANES_MIN;
    return lanes;
  }

  /** Returns lanes whose tasks the next command will match. */
  putBack(lanes: readonly ReadonlyLane[]): void {
    this.lanes = [...this.lanes, ...lanes];
  }

  next(): Session | undefined {
    const session = this.sessions.pop();
    if (session !== undefined) session.isPending = false;
    return session;
  }

  /** For an event without a task the slot means nothing, and its state does not change. */
  beforeEvent({ slot, type }: Event): void {
    const { tasks } = this.state;
    this.stateBefore = tasks.number[slot] === 0 ? NO_TASK : tasks.state[slot];
    // Only a patch moves a task within its queue. Other events skip reading the column.
    if (type === 'task_patched') this.orderBefore = tasks.order[slot];
  }

  afterEvent(event: Event): void {
    if (event.type === 'queue_changed') return this.queueChanged(event);
    const { slot } = event;
    const { tasks } = this.state;
    const stateNow = tasks.state[slot];
    const { stateBefore } = this;
    if (isHeld(stateBefore) !== isHeld(stateNow)) this.countLease(slot, isHeld(stateNow));
    if (stateBefore !== QUEUED && stateNow !== QUEUED) return;
    const stays = stateBefore === stateNow;
    if (stays && (event.type !== 'task_patched' || tasks.order[slot] === this.orderBefore)) return;
    if (stateBefore === QUEUED) this.release(slot);
    if (stateNow === QUEUED) this.readied(slot);
  }

  private countLease(slot: Slot, began: boolean): void {
    const { state, roster } = this;
    const holder = state.holders.at(state.tasks.holderOf(slot));
    const session = roster.find(holder.session);
    if (session === undefined) return;
    const shape = state.texts.shape.at(state.tasks.shape[slot]);
    const { key } = state.queues[state.tasks.queue[slot]];
    if (began) {
      roster.take(session, key, shape);
    } else {
      roster.giveBack(session, key, shape);
      this.add(session);
    }
  }

  /** A task left its place, so its reservation ends. */
  private release(slot: Slot): void {
    if (this.roster.reservationCount === 0) return;
    const session = this.roster.reserverOf(slot);
    if (session === undefined) return;
    this.roster.unreserve(session);
    this.add(session);
  }

  /**
   * A resumed queue opens its lanes for matching. A paused queue ends the reservations of its
   * tasks.
   */
  private queueChanged({ taskType, paused }: EventOf<'queue_changed'>): void {
    const queue = this.state.queueOf(taskType);
    if (queue === undefined) return;
    if (!paused) {
      for (const lane of queue.open) this.lanes.push(lane);
      this.addAllExceptions();
      return;
    }
    for (const slot of [...this.roster.reservedSlots()]) {
      if (this.state.tasks.queue[slot] === queue.index) this.release(slot);
    }
  }

  private readied(slot: Slot): void {
    const { tasks, queues } = this.state;
    const lane = queues[tasks.queue[slot]].lane(tasks.shape[slot], tasks.priority[slot]);
    if (lane?.length === 1) this.addLane(lane);
    else if (!this.roster.hasExceptions) return;
    else if (this.joined.length < JOINED_MAX) this.joined.push(slot);
    else this.addAllExceptions();
  }

  /** Lanes open and close while nothing is matched. Each open lane is kept once. */
  private addLane(lane: ReadonlyLane): void {
    this.lanes.push(lane);
    if (this.lanes.length < this.lanesMax) return;
    this.lanes = [...new Set(this.lanes)].filter(({ length }) => length > 0);
    this.lanesMax = Math.max(LANES_MIN, this.lanes.length * 2);
  }

  private addAllExceptions(): void {
    for (const session of this.roster.withExceptions()) this.add(session);
  }

  /**
   * Tasks may wait in a lane because of an exception (matching.no-idle-fit). Recheck sessions with
   * a reservation or refusal: they may accept the new task.
   */
  addExceptions(): void {
    const { tasks, queues } = this.state;
    for (const slot of this.joined) {
      if (tasks.state[slot] !== QUEUED) continue;
      const { key } = queues[tasks.queue[slot]];
      for (const session of this.roster.withExceptions()) {
        const handles = session.hasRoom && session.typePlaces.has(key);
        if (handles && mayTake(this.state, session, slot)) this.add(session);
      }
    }
    this.joined.length = 0;
  }
}
