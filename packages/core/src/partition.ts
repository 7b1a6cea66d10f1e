import { apply } from './apply/apply.ts';
import { NO_SLOT, type SessionId, type Slot, type TaskNumber } from './base/ids.ts';
import { invariant } from './base/invariant.ts';
import { LEVEL } from './base/level.ts';
import type { Utf8 } from './base/utf8.ts';
import type { Command, Replies } from './commands/commands.ts';
import { decide } from './commands/decide.ts';
import { expectHolders } from './commands/sessions/expect-holders.ts';
import { noteAttemptEnd } from './decision/attempt-ends.ts';
import type { Decision } from './decision/decision.ts';
import { MATCHING_DEFAULTS, type MatchingOptions } from './decision/matching-options.ts';
import { clearOutputs, makeOutputs, type Outputs } from './decision/outputs.ts';
import { PendingMatches } from './decision/pending-matches.ts';
import {
  type EvaluationRequest,
  evaluationRequest,
  openEvaluations,
} from './decision/runs/evaluation-request.ts';
import { RunWork } from './decision/runs/run-work.ts';
import { EventDecoder, encodeEvent } from './events/event-codec.ts';
import { EVENTS, type Event, type EventOf, type EventType } from './events/events.ts';
import type { EventDeclaration } from './events/fields.ts';
import { makeEvents } from './events/make-events.ts';
import { RecordReader } from './events/record-reader.ts';
import type { RecordWriter } from './events/record-writer.ts';
import { type Explanation, explainTask } from './matching/explain.ts';
import { type Calendar, EMPTY_CALENDAR } from './schedule/calendar.ts';
import {
  OLDEST_SCHEMA,
  SNAPSHOT_SCHEMA,
  SnapshotVersionError,
} from './snapshot/snapshot-archive.ts';
import { SnapshotLoader } from './snapshot/snapshot-loader.ts';
import { SnapshotSaver } from './snapshot/snapshot-saver.ts';
import { StateHashError, StateHasher } from './snapshot/state-hash.ts';
import { persistState } from './state/persist-state.ts';
import { type PartitionLimits, type ReadonlyState, State } from './state/state.ts';
import { ShapeTexts } from './task/shape-texts.ts';
import { LeaseActivity, type Progress } from './workers/lease-activity.ts';
import { Roster } from './workers/roster.ts';
import { type SessionView, viewSession } from './workers/session-view.ts';

/** Read access to the volatile parts of a partition. */
export type PartitionReader = Pick<
  Partition,
  'progressOf' | 'explain' | 'sessions' | 'sessionCountOf' | 'openEvaluations' | 'waitsForRoom'
>;

export interface PartitionOptions {
  readonly partition: number;
  readonly limits: PartitionLimits;
  readonly utf8: Utf8;
  /** Needed for schedules with cron patterns. */
  readonly calendar?: Calendar;
  readonly matching?: Partial<MatchingOptions>;
  /** Number of events between two state hashes. */
  readonly hashEvery?: number;
  /** Bound on the work for runs that one command does. */
  readonly runUnits?: number;
  /** The same for the first commands of a process. */
  readonly coldRunUnits?: number;
}

const HASH_EVERY = 10_000;

const RUN_UNITS = 300;
const COLD_RUN_UNITS = 16;

/** A hash of the changes of this many events takes as long as a step of a run. */
const HASHED_EVENTS_PER_UNIT = 100;

/** A saved durable state. */
export interface StateSnapshot {
  readonly schema: number;
  /** The result of `hashState` at the time of the save. */
  readonly hash: number;
  readonly pieces: Iterable<Uint8Array>;
}

/**
 * One partition: its durable state, its roster, and the only two ways to change them, `execute` and
 * `replay`. No I/O, no clock, no randomness.
 *
 * partition.same-replay: Replaying the records that `execute` wrote gives the same state.
 * partition.forward-time: Time never runs backwards: a command with a time older than the
 *   partition's gets the partition's time.
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
  /** Time of the last compaction step. */
  private madeRoomAt = 0;
  /** Outputs of the last command. */
  readonly outputs: Outputs = makeOutputs();
  /** Nothing above it is written (level.waits). What is replayed may be of any level. */
  level = LEVEL;

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
      runWork: new RunWork(this.durable, options.utf8, {
        units: options.runUnits ?? RUN_UNITS,
        coldUnits: options.coldRunUnits ?? COLD_RUN_UNITS,
      }),
      calendar: options.calendar ?? EMPTY_CALENDAR,
      matching: { ...MATCHING_DEFAULTS, ...options.matching },
      pending: new PendingMatches(this.durable, this.roster),
    };
  }

  get state(): ReadonlyState {
    return this.durable;
  }

  /** Tasks and runs that commands touch from now on are marked with this number, modulo 2^16. */
  set batch(batch: number) {
    this.durable.changes.batch = batch;
  }

  /** The batch that last touched the task in this slot. */
  batchOfTask(slot: Slot): number {
    return this.durable.changes.batchOfTask[slot];
  }

  /** The batch that last touched the run in this slot or one of its steps, but not their tasks. */
  batchOfRun(slot: Slot): number {
    return this.durable.changes.batchOfRun[slot];
  }

  /** How often a session came back with another name of its worker, which all its tasks show. */
  get workerRenames(): number {
    return this.durable.holders.renames;
  }

  /** No timer is due before this time; infinite when no timer is set. */
  get nextTimerAt(): number {
    const { timers, dedupe, redrives, runs, schedules } = this.durable;
    return Math.min(
      // Runs that have something to do wait for nothing but their turn.
      runs.line.length > 0
        ? Math.max(this.durable.now, this.decision.runWork.restsUntil)
        : Infinity,
      timers.earliest(),
      dedupe.earliest(),
      redrives.earliest(),
      schedules.timers.earliest(),
      schedules.backfills.earliest(),
      runs.earliest(),
      this.activity.earliest(),
      this.roster.nextRefusalEndsAt,
    );
  }

  /** While false, no lease is granted, and ready tasks wait for a command that may grant leases. */
  get grantsLeases(): boolean {
    return this.decision.grantsLeases;
  }

  set grantsLeases(grants: boolean) {
    this.decision.grantsLeases = grants;
  }

  /** The last progress that the task's worker reported. */
  progressOf(slot: Slot): Progress | undefined {
    return this.activity.progressOf(slot);
  }

  /** Why the task in this slot is not running, as of the last command. */
  explain(slot: Slot): Explanation {
    return explainTask({ state: this.durable, roster: this.roster }, slot);
  }

  /** Whether a step of the run in this slot waits until the run that it starts fits into memory. */
  waitsForRoom(run: Slot): boolean {
    const blocked = this.decision.runWork.blockedSince.get(run);
    return blocked !== undefined && blocked.number === this.durable.runs.table.number[run];
  }

  /** The script that the step in this slot waits for; undefined when it waits for none. */
  evaluation(step: number): EvaluationRequest | undefined {
    return evaluationRequest(this.decision, step);
  }

  /** What steps and runs wait for: a server that starts asks for it again. */
  openEvaluations(): EvaluationRequest[] {
    return openEvaluations(this.decision);
  }

  /** The task that the session's room is reserved for. */
  reservedFor(id: SessionId): TaskNumber | undefined {
    const slot = this.roster.find(id)?.reservedFor ?? NO_SLOT;
    return slot === NO_SLOT ? undefined : (this.durable.tasks.number[slot] as TaskNumber);
  }

  /** Every known session, including those that are expected back after a restart. */
  sessions(): SessionView[] {
    return [...this.roster.sessions()].map(viewSession);
  }

  sessionCountOf(namespace: string): number {
    return this.roster.countOf(namespace);
  }

  get sessionCount(): number {
    return this.roster.size;
  }

  /** Session counts by state: `away` are sessions whose stream is broken. */
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
   * From now on, finished tasks leave memory only if they ended before `time`. Without this call
   * they leave as soon as there are too many. Later commands end no task before `time`
   * (partition.forward-time).
   */
  keepUnlessEndedBefore(time: number): void {
    this.decision.projectedBefore = time;
    // An infinite time lets all finished tasks leave and must not become the partition's time.
    if (Number.isFinite(time)) this.decision.now = Math.max(this.decision.now, time);
  }

  /** Decides and applies one command. Its record goes to `writer`, if it has events. */
  execute<C extends Command>(command: C, writer: RecordWriter): Replies[C['type']] {
    clearOutputs(this.outputs);
    const now = Math.max(command.now, this.decision.now, this.durable.now);
    this.makeRoom(now);
    this.decision.now = now;
    this.writer = writer;
    writer.beginRecord(now);
    this.decision.runWork.begin();
    const firstOwed = this.durable.outbox.next;
    const reply = decide(this.decision, command) as Replies[C['type']];
    this.outputOwed(firstOwed);
    writer.endRecord();
    this.writer = undefined;
    return reply;
  }

  /** Adds the deliveries that the command created to the outputs. */
  private outputOwed(first: number): void {
    const { end } = this.durable.outbox;
    for (let number = first; number < end; number++) this.outputs.deliveries.push(number);
  }

  /**
   * A hash of the whole durable state, as far as the schema has it. The same events give the same
   * hash, executed or replayed.
   */
  hashState(schema = SNAPSHOT_SCHEMA): number {
    const hasher = new StateHasher(schema);
    persistState(this.durable, hasher);
    return hasher.value;
  }

  /** Writes the durable state in pieces. Each piece is valid only while `write` runs. */
  save(write: (piece: Uint8Array) => void): void {
    const saver = new SnapshotSaver(write, this.utf8);
    persistState(this.durable, saver);
    saver.end();
  }

  /**
   * Loads a saved state into an empty partition. Throws a `SnapshotError` when another version
   * saved it, a `LimitError` when it does not fit, and a `StateHashError` when its hash differs.
   */
  load({ schema, hash, pieces }: StateSnapshot): void {
    if (schema < OLDEST_SCHEMA || schema > SNAPSHOT_SCHEMA) {
      const known = `${OLDEST_SCHEMA} to ${SNAPSHOT_SCHEMA}`;
      const finding = `its schema is ${schema}, and this version of Sluice knows ${known}`;
      throw new SnapshotVersionError(finding);
    }
    const loader = new SnapshotLoader(pieces, this.utf8, schema);
    try {
      persistState(this.durable, loader);
      loader.end();
    } finally {
      loader.close();
    }
    const loaded = this.hashState(schema);
    if (loaded !== hash) throw new StateHashError({ expected: hash, found: loaded });
  }

  /**
   * Applies a batch of records from the log; `firstRecord` is the number of the first. Throws a
   * `StateHashError` when the state differs from the one at the time of writing, and a `LimitError`
   * when the state does not fit.
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

  /**
   * Compacts payloads in small steps, before each command. By then the outputs of the last command
   * no longer need their payload references.
   */
  private makeRoom(now: number): void {
    this.durable.payloads.compact(Math.max(0, now - this.madeRoomAt));
    this.madeRoomAt = now;
  }

  private emit(event: Event): void {
    if (this.level < LEVEL) this.refuseNewer(event.type);
    const { pending } = this.decision;
    pending.beforeEvent(event);
    // An event that is applied but not logged would be lost after a restart
    // (partition.same-replay).
    invariant(this.writer !== undefined, 'an event is emitted while a command runs');
    encodeEvent(this.writer, event);
    noteAttemptEnd(this.outputs, this.durable, event, this.decision.now);
    apply(this.durable, this.decision.now, event);
    pending.afterEvent(event);
    this.decision.runWork.events += 1;
    if (this.durable.changes.events >= this.hashEvery) this.emitHash();
  }

  private refuseNewer(type: EventType): void {
    const { level = 1 }: EventDeclaration = EVENTS[type];
    invariant(level <= this.level, 'a partition writes no event above its level');
  }

  private emitHash(): void {
    const event = this.decision.events.stateHashed;
    event.schema = SNAPSHOT_SCHEMA;
    const { events } = this.durable.changes;
    event.hash = this.durable.hashChanges();
    this.decision.runWork.spend(Math.floor(events / HASHED_EVENTS_PER_UNIT));
    this.emit(event);
  }

  private checkHash(event: EventOf<'state_hashed'>, record: number): void {
    if (event.schema !== SNAPSHOT_SCHEMA) return;
    const found = this.durable.hashChanges();
    if (found !== event.hash) throw new StateHashError({ expected: event.hash, found, record });
  }
}
