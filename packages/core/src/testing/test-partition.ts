import type {
  AdvanceTime,
  AttachSession,
  AttachSessionReply,
  Command,
  DetachSession,
  Replies,
  ReportAttempts,
  ReportAttemptsReply,
  ReportKind,
  SubmitTasks,
  SubmitTasksReply,
} from '../command.ts';
import type { LeaseNumber, SessionId, Slot, TaskNumber } from '../ids.ts';
import type { Progress } from '../lease-activity.ts';
import { leaseTokenText } from '../lease-token.ts';
import { pushCost } from '../matching.ts';
import { Partition, type StateSnapshot } from '../partition.ts';
import { queueKey } from '../queue-key.ts';
import { RecordWriter } from '../record-writer.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import { SNAPSHOT_SCHEMA } from '../snapshot-archive.ts';
import type { PartitionLimits, ReadonlyState } from '../state.ts';
import type { TaskCommand } from '../task-commands.ts';
import { taskIdText } from '../task-id.ts';
import type { Callback, Tags } from '../task-labels.ts';
import { REASONS } from '../task-state.ts';
import type { Timeouts } from '../timeouts.ts';
import { describeTask, type TaskDescription } from './describe-state.ts';
import { heldBy, type KnownSession, matchingProblems, stateProblems } from './state-problems.ts';
import { claimsOf, joined, type TestDedupe } from './test-payloads.ts';
import { testUtf8 } from './test-utf8.ts';

export interface TestTask {
  readonly type?: string;
  readonly priority?: number;
  readonly input?: string;
  readonly runAt?: number;
  readonly delayMs?: number;
  readonly retry?: RetryPolicy;
  readonly timeouts?: Timeouts;
  readonly tags?: Tags;
  readonly callback?: Callback;
  readonly parentId?: string;
  readonly dedupe?: TestDedupe;
}

export interface TestReport {
  readonly lease: string;
  readonly kind: ReportKind;
  readonly payload?: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly startedAt?: number;
  readonly fraction?: number;
  readonly message?: string;
}

/** One task on its way to a worker. */
export interface Push {
  readonly session: SessionId;
  readonly task: number;
  readonly lease: string;
}

/** A worker is told to stop, or told something. */
export interface Notice extends Push {
  readonly reason?: string;
  readonly graceMs?: number;
  readonly name?: string;
  readonly data?: string;
}

type Operation<C extends TaskCommand> = C extends TaskCommand
  ? Omit<C, 'now' | 'namespace'>
  : never;

type Timeless<C> = C extends Command ? Omit<C, 'now'> : never;

const DEFAULT_LIMITS: PartitionLimits = {
  tasksMax: 100,
  finishedTasksMax: 50,
  deadLettersMax: 50,
  sessionsMax: 100,
  dedupeKeysMax: 100,
  payloadBytesMax: 100_000,
  unsentBytesMax: 100_000,
  arenaChunkBytes: 1024,
};
const RECORDS_PER_BATCH = 3;
const START = 1_000_000;
/** Prime, so that hashes come at all places of commands and batches. */
const HASH_EVERY = 7;

export const LEASE_MS = 10_000;

/**
 * A partition with a clock that the test drives and a log that it can replay.
 *
 * Every command is followed by a check of all invariants, so that each test looks after them.
 */
export class TestPartition {
  readonly limits: PartitionLimits;
  readonly sessions = new Map<SessionId, KnownSession>();
  private readonly hashEvery: number;
  now = START;
  /** The namespace that commands speak for. */
  namespace = 'default';
  /** From which jitter is drawn. */
  seed = 1;
  /** Of the last command. */
  pushes: readonly Push[] = [];
  ended: readonly number[] = [];
  closed: readonly SessionId[] = [];
  cancels: readonly Notice[] = [];
  signals: readonly Notice[] = [];
  private partition: Partition;
  private readonly batches: Uint8Array[] = [];
  /** With the number of batches that it stands for; undefined before the first. */
  private saved: (StateSnapshot & { readonly behind: number }) | undefined;
  private readonly writer = new RecordWriter(testUtf8);
  /** The newest connection of each session. */
  private readonly connections = new Map<SessionId, number>();
  private sessionsMade = 0;

  constructor(limits: Partial<PartitionLimits> = {}, { hashEvery = HASH_EVERY } = {}) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.hashEvery = hashEvery;
    this.partition = this.newPartition();
  }

  get state(): ReadonlyState {
    return this.partition.state;
  }

  get sessionCount(): number {
    return this.partition.sessionCount;
  }

  submit(...tasks: TestTask[]): SubmitTasksReply {
    const { bytes, ends } = joined(tasks.map((task) => task.input ?? ''));
    return this.execute<SubmitTasks>({
      type: 'submit_tasks',
      namespace: this.namespace,
      tasks: tasks.map(({ input: _, dedupe: __, type = 'hello', ...spec }) => ({ type, ...spec })),
      inputs: bytes,
      inputEnds: ends,
      ...claimsOf(tasks),
    });
  }

  attach(given: Partial<Omit<AttachSession, 'type' | 'now'>> = {}): AttachSessionReply {
    this.sessionsMade += 1;
    const command = {
      type: 'attach_session',
      namespace: this.namespace,
      newSession: `s${this.sessionsMade}` as SessionId,
      worker: 'worker',
      types: ['hello'],
      slots: 1,
      leaseMs: LEASE_MS,
      ...given,
    } as const;
    return this.execute<AttachSession>(command);
  }

  resume(
    session: SessionId,
    running: readonly string[],
    given: Partial<AttachSession> = {},
  ): AttachSessionReply {
    return this.attach({ ...given, resume: { session, running } });
  }

  report(session: SessionId, ...reports: TestReport[]): ReportAttemptsReply {
    const { bytes, ends } = joined(reports.map((report) => report.payload ?? ''));
    return this.execute<ReportAttempts>({
      type: 'report_attempts',
      namespace: this.namespace,
      session,
      reports,
      seed: this.seed,
      payloads: bytes,
      payloadEnds: ends,
    });
  }

  /** Something that an operator does. */
  operate<C extends TaskCommand>(operation: Operation<C>): Replies[C['type']] {
    return this.execute<C>({ ...operation, namespace: this.namespace } as unknown as Timeless<C>);
  }

  /** The id of a task in memory. */
  id(number: number): string {
    const { submittedAt } = this.task(number);
    return taskIdText({ submittedAt, partition: 0, number: number as TaskNumber });
  }

  progressOf(number: number): Progress | undefined {
    return this.partition.progressOf(this.state.tasks.find(number as TaskNumber));
  }

  disconnect(session: SessionId, connection: number): void {
    this.execute({ type: 'disconnect_session', session, connection });
  }

  detach(session: SessionId): boolean {
    return this.execute<DetachSession>({
      type: 'detach_session',
      namespace: this.namespace,
      session,
    }).found;
  }

  /** Fires what is due, as often as it takes. */
  advance(): void {
    while (this.execute<AdvanceTime>({ type: 'advance_time', seed: this.seed }).more);
  }

  read(session: SessionId, connection: number, bytes: number): void {
    this.execute({ type: 'session_read', session, connection, bytes });
  }

  hear(): void {
    this.execute({ type: 'hear_sessions' });
  }

  expire(): void {
    this.execute({ type: 'expire_sessions' });
  }

  /** The leases that a session holds, oldest first. */
  leasesOf(session: SessionId): string[] {
    return heldBy(this.state, session).map((slot) => leaseOf(this.state, slot));
  }

  /** The tasks that a session holds, oldest lease first. */
  heldBy(session: SessionId): number[] {
    return heldBy(this.state, session).map((slot) => this.state.tasks.number[slot]);
  }

  task(number: number): TaskDescription {
    const slot = this.state.tasks.find(number as TaskNumber);
    if (slot < 0) throw new Error(`task ${number} is not in memory`);
    return describeTask(this.state, slot);
  }

  /** The batches that were logged so far. */
  log(): readonly Uint8Array[] {
    this.closeBatch();
    return this.batches;
  }

  /** What a restarted server makes of the log. */
  replayed(): Partition {
    const partition = this.newPartition();
    for (const batch of this.log()) partition.replay(batch, 0);
    return partition;
  }

  /** Saves the state as it is, for `restored`. */
  snapshot(): void {
    this.saved = { ...snapshotOf(this.partition), behind: this.log().length };
  }

  /** What a restarted server makes of the newest snapshot and the log behind it. */
  restored(): Partition {
    if (this.saved === undefined) return this.replayed();
    const partition = this.newPartition();
    partition.load(this.saved);
    for (const batch of this.log().slice(this.saved.behind)) partition.replay(batch, 0);
    return partition;
  }

  keepUnlessEndedBefore(time: number): void {
    this.partition.keepUnlessEndedBefore(time);
  }

  hashState(): number {
    return this.partition.hashState();
  }

  /** Goes on with what the log holds, or the newest snapshot and the log behind it. */
  restart(graceMsMin = 0, { fromSnapshot = false } = {}): void {
    this.partition = fromSnapshot ? this.restored() : this.replayed();
    this.partition.expectHolders(this.now, graceMsMin);
    for (const session of [...this.sessions.values()]) {
      session.connected = false;
      if (heldBy(this.state, session.id).length === 0) this.sessions.delete(session.id);
    }
  }

  private newPartition(): Partition {
    const { limits, hashEvery } = this;
    return new Partition({ partition: 0, limits, utf8: testUtf8, hashEvery });
  }

  private execute<C extends Command>(timeless: Timeless<C>): Replies[C['type']] {
    const command = { ...timeless, now: this.now } as unknown as C;
    const reply = this.partition.execute(command, this.writer);
    if (this.writer.recordCount >= RECORDS_PER_BATCH) this.closeBatch();
    this.takeOutputs();
    this.follow(command, reply);
    this.check();
    return reply;
  }

  private closeBatch(): void {
    if (this.writer.recordCount > 0) {
      this.batches.push(this.writer.bytes.slice(0, this.writer.length));
    }
    this.writer.reset();
  }

  private takeOutputs(): void {
    const { pushSessions, pushSlots, endedSlots, closedSessions } = this.partition.outputs;
    this.pushes = pushSlots.map((slot, index) => this.pushOf(pushSessions[index], slot));
    this.ended = endedSlots.map((slot) => this.state.tasks.number[slot]);
    this.closed = [...closedSessions];
    const { cancels, signals } = this.partition.outputs;
    this.cancels = cancels.map(({ session, slot, reason, graceMs }) => ({
      ...this.pushOf(session, slot),
      reason: REASONS[reason],
      graceMs,
    }));
    this.signals = signals.map(({ session, slot, name, data }) => ({
      ...this.pushOf(session, slot),
      name,
      data: testUtf8.decode(data),
    }));
  }

  private pushOf(session: SessionId, slot: Slot): Push {
    return { session, task: this.state.tasks.number[slot], lease: leaseOf(this.state, slot) };
  }

  /** Keeps `sessions` as the workers know them. */
  private follow(command: Command, reply: Replies[Command['type']]): void {
    if (command.type === 'attach_session') {
      const { session: id, connection, rejection } = reply as AttachSessionReply;
      const { slots } = command;
      const types = command.types.map((type) => queueKey(command.namespace, type));
      this.connections.set(id, connection);
      const known = { id, types, slots, connected: true, unsentBytes: 0 };
      if (rejection === undefined) this.sessions.set(id, known);
    }
    if (command.type === 'disconnect_session') {
      const session = this.sessions.get(command.session);
      const isCurrent = this.connections.get(command.session) === command.connection;
      if (session !== undefined && isCurrent) session.connected = false;
    }
    if (command.type === 'session_read') {
      const session = this.sessions.get(command.session);
      if (session !== undefined) session.unsentBytes -= command.bytes;
    }
    for (const { session: id, task } of this.pushes) {
      const session = this.sessions.get(id);
      const slot = this.state.tasks.find(task as TaskNumber);
      if (session !== undefined) session.unsentBytes += pushCost(this.state, slot);
    }
    for (const id of this.closed) this.sessions.delete(id);
  }

  private check(): void {
    const pushed = new Set(this.pushes.map((push) => push.session));
    const problems = [
      ...stateProblems(this.state),
      ...matchingProblems(this.state, this.sessions.values(), pushed),
    ];
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }
}

/** A snapshot that outlives what it is of. */
export function snapshotOf(partition: Partition): StateSnapshot & { pieces: Uint8Array[] } {
  const pieces: Uint8Array[] = [];
  partition.save((piece) => pieces.push(piece.slice()));
  return { schema: SNAPSHOT_SCHEMA, hash: partition.hashState(), pieces };
}

function leaseOf({ tasks }: ReadonlyState, slot: Slot): string {
  return leaseTokenText({ partition: 0, slot, number: tasks.lease[slot] as LeaseNumber });
}
