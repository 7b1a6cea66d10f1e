import type { Slot } from '../base/ids.ts';
import type { Event, EventOf } from '../events/events.ts';
import type { ReadonlyLane, ReadonlyState } from '../state/state.ts';
import { isHeld, QUEUED } from '../task/task-state.ts';
import type { Roster, Session } from '../workers/roster.ts';
import { mayTake } from './waiting-line.ts';

/** The state of a slot that no task has. */
const NO_TASK = -1;

/** Bounds of what adds up while nothing is matched (L9). */
const LANES_MIN = 1000;
const JOINED_MAX = 1000;

/**
 * What a command left to be matched. It sees every event before and after it is applied, so that
 * whatever ends a lease or readies a task, sums are right and nobody is forgotten.
 */
export class PendingMatches {
  /**
   * Lanes that were empty until a task joined them. Whoever joins one that was not finds that
   * nobody has room for its shape, or those before would not be waiting (M1).
   */
  private lanes: ReadonlyLane[] = [];
  /** From here on the lanes are looked through for those that closed again. */
  private lanesMax = LANES_MIN;
  /** Tasks that became ready in lanes that were not empty. */
  private readonly joined: Slot[] = [];
  private readonly state: ReadonlyState;
  private readonly roster: Roster;
  private readonly sessions: Session[] = [];
  /** Of the task that the event under way speaks of, before it. */
  private stateBefore = NO_TASK;
  private orderBefore = 0;

  constructor(state: ReadonlyState, roster: Roster) {
    this.state = state;
    this.roster = roster;
  }

  /** The session may have room that it did not have, or may take what it could not. */
  add(session: Session): void {
    if (session.isPending) return;
    session.isPending = true;
    this.sessions.push(session);
  }

  get hasLanes(): boolean {
    return this.lanes.length > 0;
  }

  /** The lane, when it is the only one. */
  takeOnlyLane(): ReadonlyLane | undefined {
    return this.lanes.length === 1 ? this.lanes.pop() : undefined;
  }

  /** Each once, however often it opened. */
  takeLanes(): ReadonlyLane[] {
    const lanes = [...new Set(this.lanes)];
    this.lanes = [];
    this.lanesMax = LANES_MIN;
    return lanes;
  }

  /** Lanes that were taken and whose tasks are to be matched by the next command. */
  putBack(lanes: readonly ReadonlyLane[]): void {
    this.lanes = [...this.lanes, ...lanes];
  }

  next(): Session | undefined {
    const session = this.sessions.pop();
    if (session !== undefined) session.isPending = false;
    return session;
  }

  /** An event that is about no task changes nothing of the one that it seems to name. */
  beforeEvent({ slot, type }: Event): void {
    const { tasks } = this.state;
    this.stateBefore = tasks.number[slot] === 0 ? NO_TASK : tasks.state[slot];
    // Nothing else moves a task within its queue, and a column that is not read costs nothing.
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

  /** Nobody needs to keep room for a task that left its place. */
  private release(slot: Slot): void {
    if (this.roster.reservationCount === 0) return;
    const session = this.roster.reserverOf(slot);
    if (session === undefined) return;
    this.roster.unreserve(session);
    this.add(session);
  }

  /** What a queue held back may go, or it holds back what somebody kept room for. */
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

  /** Lanes open and close while nothing is matched; each that is open is kept once. */
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
   * Those who wait in a lane may wait because of an exception (M1): one who joins them may not be
   * an exception to whoever made it.
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
