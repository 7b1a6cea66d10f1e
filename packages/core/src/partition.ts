import { apply } from './apply/apply.ts';
import { NO_SLOT, type SessionId, type Slot, type TaskNumber } from './base/ids.ts';
import { invariant } from './base/invariant.ts';
import type { Utf8 } from './base/utf8.ts';
import type { Command, Replies } from './commands/commands.ts';
import { decide } from './commands/decide.ts';
import { expectHolders } from './commands/sessions/expect-holders.ts';
import type { Decision } from './decision/decision.ts';
import { MATCHING_DEFAULTS, type MatchingOptions } from './decision/matching-options.ts';
import { clearOutputs, makeOutputs, type Outputs } from './decision/outputs.ts';
import { PendingMatches } from './decision/pending-matches.ts';
import { EventDecoder, encodeEvent } from './events/event-codec.ts';
import type { Event, EventOf } from './events/events.ts';
import { makeEvents } from './events/make-events.ts';
import { RecordReader } from './events/record-reader.ts';
import type { RecordWriter } from './events/record-writer.ts';
import { type Explanation, explainTask } from './matching/explain.ts';
import { SNAPSHOT_SCHEMA, SnapshotError } from './snapshot/snapshot-archive.ts';
import { SnapshotLoader } from './snapshot/snapshot-loader.ts';
import { SnapshotSaver } from './snapshot/snapshot-saver.ts';
import { StateHashError, StateHasher } from './snapshot/state-hash.ts';
import { persistState } from './state/persist-state.ts';
import { type PartitionLimits, type ReadonlyState, State } from './state/state.ts';
import { ShapeTexts } from './task/shape-texts.ts';
import { LeaseActivity, type Progress } from './workers/lease-activity.ts';
import { Roster } from './workers/roster.ts';
import { type SessionView, viewSession } from './workers/session-view.ts';

/** What somebody who looks at a partition sees beside its durable state. */
export type PartitionReader = Pick<
  Partition,
  'progressOf' | 'explain' | 'sessions' | 'sessionCountOf'
>;

export interface PartitionOptions {
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly utf8: Utf8;
  readonly matching?: Partial<MatchingOptions>;
  /** Events between two hashes of what they changed. */
  readonly hashEvery?: number;
}

const HASH_EVERY = 10_000;

/** A durable state that was saved. */
export interface StateSnapshot {
  readonly schema: number;
  /** What `hashState` said when it was saved. */
  readonly hash: number;
  readonly pieces: Iterable<Uint8Array>;
}

/**
 * One partition: its durable state, its roster, and the only two ways to change them, `execute` and
 * `replay`. No I/O, no clock, no randomness.
 *
 * P1 Replaying the records that `execute` wrote gives the same state.
 * P2 Time never runs backwards: a command with an older time than one before it happens at that
 *    time.
 */
export class Partition {
  private readonly durable: State;
  private readonly roster = new Roster();
  private readonly activity: LeaseActivity;
  private readonly decoder = new EventDecoder();
  private readonly utf8: Utf8;
  private readonly hashEvery: number;
  private readonly decision: { -readonly [K in keyof Decision]: Decision[K] };
  /** Where `emit` writes; set while a command runs. */
  private writer: RecordWriter | undefined;
  /** When the payloads were last looked after. */
  private madeRoomAt = 0;
  /** What the last command wants done. */
  readonly outputs: Outputs = makeOutputs();

  constructor(options: PartitionOptions) {
    this.durable = new State(options.partition, options.limits);
    this.activity = new LeaseActivity(options.limits.tasksMax);
    this.utf8 = options.utf8;
    this.hashEvery = options.hashEvery ?? HASH_EVERY;
    this.decision = {
      now: 0,
      grantsLeases: true,
      projectedBefore: Number.POSITIVE_INFINITY,
      state: this.durable,
      roster: this.roster,
      activity: this.activity,
      emit: (event) => this.emit(event),
      events: makeEvents(),
      outputs: this.outputs,
      shapeTexts: new ShapeTexts(),
      matching: { ...MATCHING_DEFAULTS, ...options.matching },
      pending: new PendingMatches(this.durable, this.roster),
    };
  }

  get state(): ReadonlyState {
    return this.durable;
  }

  /** No timer is due before then; infinite when none runs. */
  get nextTimerAt(): number {
    const { timers, dedupe, redrives } = this.durable;
    return Math.min(
      timers.earliest(),
      dedupe.earliest(),
      redrives.earliest(),
      this.activity.earliest(),
      this.roster.nextRefusalEndsAt,
    );
  }

  /** False while no lease is to be granted: what is ready waits for a command that may. */
  get grantsLeases(): boolean {
    return this.decision.grantsLeases;
  }

  set grantsLeases(grants: boolean) {
    this.decision.grantsLeases = grants;
  }

  /** What the worker that holds this task last said of how far it is. */
  progressOf(slot: Slot): Progress | undefined {
    return this.activity.progressOf(slot);
  }

  /** Why the task in this slot is not running, as of the last command. */
  explain(slot: Slot): Explanation {
    return explainTask({ state: this.durable, roster: this.roster }, slot);
  }

  /** The task that the session's room is kept for. */
  reservedFor(id: SessionId): TaskNumber | undefined {
    const slot = this.roster.find(id)?.reservedFor ?? NO_SLOT;
    return slot === NO_SLOT ? undefined : (this.durable.tasks.number[slot] as TaskNumber);
  }

  /** Every session that is known, also those that are expected back. */
  sessions(): SessionView[] {
    return [...this.roster.sessions()].map(viewSession);
  }

  sessionCountOf(namespace: string): number {
    return this.roster.countOf(namespace);
  }

  get sessionCount(): number {
    return this.roster.size;
  }

  /** Sessions by what can be said to them: `away` are those whose stream broke. */
  countSessions(): { connected: number; draining: number; away: number } {
    const counts = { connected: 0, draining: 0, away: 0 };
    for (const { connected, draining } of this.roster.sessions()) {
      if (!connected) counts.away += 1;
      else if (draining) counts.draining += 1;
      else counts.connected += 1;
    }
    return counts;
  }

  /**
   * Finished tasks leave memory only if they ended before `time`, from here on. Without this call,
   * as soon as there are too many. Whatever happens later does not end before that (P2).
   */
  keepUnlessEndedBefore(time: number): void {
    this.decision.projectedBefore = time;
    // An infinite one lets all go, and says nothing of what time it is.
    if (Number.isFinite(time)) this.decision.now = Math.max(this.decision.now, time);
  }

  /** Decides and applies one command; its record, if it has events, goes to `writer`. */
  execute<C extends Command>(command: C, writer: RecordWriter): Replies[C['type']] {
    clearOutputs(this.outputs);
    const now = Math.max(command.now, this.decision.now, this.durable.now);
    this.makeRoom(now);
    this.decision.now = now;
    this.writer = writer;
    writer.beginRecord(now);
    const firstOwed = this.durable.outbox.next;
    const reply = decide(this.decision, command) as Replies[C['type']];
    this.outputOwed(firstOwed);
    writer.endRecord();
    this.writer = undefined;
    return reply;
  }

  /** What the command made due for those who want to be called back. */
  private outputOwed(first: number): void {
    const { end } = this.durable.outbox;
    for (let number = first; number < end; number++) this.outputs.deliveries.push(number);
  }

  /** A hash of the whole durable state: the same for the same events, however they came. */
  hashState(): number {
    const hasher = new StateHasher();
    persistState(this.durable, hasher);
    return hasher.value;
  }

  /** Hands out the durable state in pieces, each of which is valid only while `write` runs. */
  save(write: (piece: Uint8Array) => void): void {
    const saver = new SnapshotSaver(write, this.utf8);
    persistState(this.durable, saver);
    saver.end();
  }

  /**
   * Takes over what `save` handed out; nothing was applied before. Throws a `SnapshotError` when it
   * is not what this version saves, a `LimitError` when it does not fit, and a `StateHashError`
   * when it is not the state it should be.
   */
  load({ schema, hash, pieces }: StateSnapshot): void {
    if (schema !== SNAPSHOT_SCHEMA) {
      throw new SnapshotError(
        `its schema is ${schema}, and this version of Sluice knows ${SNAPSHOT_SCHEMA}`,
      );
    }
    const loader = new SnapshotLoader(pieces, this.utf8);
    try {
      persistState(this.durable, loader);
      loader.end();
    } finally {
      loader.close();
    }
    const loaded = this.hashState();
    if (loaded !== hash) throw new StateHashError({ expected: hash, found: loaded });
  }

  /**
   * Applies a batch of records from the log, of which `firstRecord` is the first. Throws a
   * `StateHashError` when they lead to another state than they did when they were written, and a
   * `LimitError` when that does not fit.
   */
  replay(batch: Uint8Array, firstRecord: number): void {
    const reader = new RecordReader(batch, this.utf8);
    for (let record = firstRecord; reader.hasRecord(); record++) {
      const at = reader.beginRecord();
      this.makeRoom(at);
      while (reader.hasEvent()) {
        const event = this.decoder.next(reader);
        if (event.type === 'state_hashed') this.checkHash(event, record);
        apply(this.durable, at, event);
      }
    }
  }

  /**
   * After replay: expects the sessions that hold leases to come back within a grace period (L7).
   */
  expectHolders(now: number, graceMsMin: number): void {
    expectHolders(this.decision, Math.max(now, this.durable.now), graceMsMin);
  }

  /** A little at a time, before each command: what the last one rendered is rendered by now. */
  private makeRoom(now: number): void {
    this.durable.payloads.compact(Math.max(0, now - this.madeRoomAt));
    this.madeRoomAt = now;
  }

  private emit(event: Event): void {
    const { pending } = this.decision;
    pending.beforeEvent(event);
    // What is applied and not written down would be gone after a restart (P1).
    invariant(this.writer !== undefined, 'an event is emitted while a command runs');
    encodeEvent(this.writer, event);
    apply(this.durable, this.decision.now, event);
    pending.afterEvent(event);
    if (this.durable.changes.events >= this.hashEvery) this.emitHash();
  }

  private emitHash(): void {
    const event = this.decision.events.stateHashed;
    event.schema = SNAPSHOT_SCHEMA;
    event.hash = this.durable.hashChanges();
    this.emit(event);
  }

  private checkHash(event: EventOf<'state_hashed'>, record: number): void {
    if (event.schema !== SNAPSHOT_SCHEMA) return;
    const found = this.durable.hashChanges();
    if (found !== event.hash) throw new StateHashError({ expected: event.hash, found, record });
  }
}
