import type { LeaseNumber, SessionId, Slot, TaskNumber } from '../base/ids.ts';
import { leaseTokenText } from '../base/lease-token.ts';
import { taskIdText } from '../base/task-id.ts';
import type { ReportAttempts, ReportAttemptsReply } from '../commands/attempts/report-attempts.ts';
import type {
  AccessCommand,
  BackupCommand,
  CallbackCommand,
  Command,
  Replies,
  RunCommand,
  ScheduleCommand,
  TaskCommand,
} from '../commands/commands.ts';
import type { AttachSession, AttachSessionReply } from '../commands/sessions/attach-session.ts';
import type { DetachSession } from '../commands/sessions/end-sessions.ts';
import type { DrainSession } from '../commands/sessions/session-stream.ts';
import type { ScriptsEvaluated } from '../commands/steps/script-evaluated.ts';
import type { SubmitTasks, SubmitTasksReply } from '../commands/tasks/submit-tasks.ts';
import type { AdvanceTime } from '../commands/time/advance-time.ts';
import type { Author } from '../decision/audit.ts';
import type { Outputs } from '../decision/outputs.ts';
import type { EvaluationRequest } from '../decision/runs/evaluation-request.ts';
import { RecordWriter } from '../events/record-writer.ts';
import type { Explanation } from '../matching/explain.ts';
import { OVERDUE_PER_COMMAND } from '../matching/matching.ts';
import { Partition, type PartitionOptions, type StateSnapshot } from '../partition.ts';
import { SNAPSHOT_SCHEMA } from '../snapshot/snapshot-archive.ts';
import type { PartitionLimits, ReadonlyState } from '../state/state.ts';
import { REASONS } from '../task/task-state.ts';
import type { Progress } from '../workers/lease-activity.ts';
import { describeTask, type TaskDescription } from './describe-state.ts';
import { type Carried, carriedCommand, pushOf, reservationsOf } from './follow/carried-command.ts';
import { KnownSessions } from './follow/known-sessions.ts';
import { MarkWatch } from './mark-watch.ts';
import { heldBy, matchingProblems, stateProblems } from './state-problems.ts';
import { DEFAULT_LIMITS } from './test-limits.ts';
import { claimOf, claimsOf, joined, type TestDedupe } from './test-payloads.ts';
import type { Notice, Push, TestOffer, TestReport, TestTask } from './test-requests.ts';
import { testUtf8 } from './test-utf8.ts';

type Operable = OfWork | AccessCommand | BackupCommand | CallbackCommand;
type OfWork = RunCommand | ScheduleCommand | TaskCommand;

type Operation<C extends Operable> = C extends Operable ? Omit<C, 'now' | 'namespace'> : never;

type Timeless<C> = C extends Command ? Omit<C, 'now'> : never;

const RECORDS_PER_BATCH = 3;
const START = 1_000_000;
/** Prime, so that hashes occur at all positions of commands and batches. */
const HASH_EVERY = 7;

export const LEASE_MS = 10_000;

type OtherOptions = Partial<Omit<PartitionOptions, 'partition' | 'limits' | 'utf8'>>;

/** Options that are not limits. */
interface TestOptions extends OtherOptions {
  /** Called with every executed command. */
  readonly watch?: (carried: Carried) => void;
}

/**
 * A partition with a clock that the test controls and a log that it can replay.
 *
 * All invariants are checked after every command, so every test checks them.
 */
export class TestPartition {
  readonly limits: PartitionLimits;
  private readonly options: TestOptions;
  /** The sessions as their workers know them. */
  private readonly known = new KnownSessions();
  now = START;
  /** The namespace of commands. */
  namespace = 'default';
  /** While false, no lease is granted, even to sessions with room. */
  grantsLeases = true;
  /** Seed of the jitter. */
  seed = 1;
  /** Outputs of the last command. */
  pushes: readonly Push[] = [];
  ended: readonly number[] = [];
  closed: readonly SessionId[] = [];
  cancels: readonly Notice[] = [];
  signals: readonly Notice[] = [];
  deliveries: readonly number[] = [];
  private partition: Partition;
  private marks?: MarkWatch;
  private readonly batches: Uint8Array[] = [];
  /** With the number of batches that it covers; undefined before the first. */
  private saved: (StateSnapshot & { readonly behind: number }) | undefined;
  private readonly writer = new RecordWriter(testUtf8);
  private sessionsMade = 0;
  /** Time of the last command: time never runs backwards (partition.forward-time). */
  private latest = 0;

  constructor(limits: Partial<PartitionLimits> = {}, options: TestOptions = {}) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.options = options;
    this.partition = this.newPartition();
  }

  get state(): ReadonlyState {
    return this.partition.state;
  }

  /** Outputs of the last command, as the shell sees them. */
  get outputs(): Outputs {
    return this.partition.outputs;
  }

  set level(level: number) {
    this.partition.level = level;
  }

  get sessionCount(): number {
    return this.partition.sessionCount;
  }

  get nextTimerAt(): number {
    return this.partition.nextTimerAt;
  }

  submit(...tasks: TestTask[]): SubmitTasksReply {
    return this.submitAs(undefined, tasks);
  }

  /** A submit whose request has a key, if one is given. */
  submitAs(request: TestDedupe | undefined, tasks: readonly TestTask[]): SubmitTasksReply {
    const { bytes, ends } = joined(tasks.map((task) => task.input ?? ''));
    return this.execute<SubmitTasks>({
      type: 'submit_tasks',
      namespace: this.namespace,
      tasks: tasks.map(({ input: _, dedupe: __, type = 'hello', ...spec }) => ({ type, ...spec })),
      inputs: bytes,
      inputEnds: ends,
      ...claimsOf(tasks),
      ...(request === undefined ? {} : { request: claimOf(request) }),
    });
  }

  attach(given: TestOffer = {}): AttachSessionReply {
    this.sessionsMade += 1;
    const { types = ['hello'], slots = 1, capacity, labels = {}, ...others } = given;
    const command = {
      type: 'attach_session',
      namespace: this.namespace,
      newSession: `s${this.sessionsMade}` as SessionId,
      worker: 'worker',
      version: '1',
      types: types.map((type) => (typeof type === 'string' ? { type } : type)),
      capacity: { slots, ...capacity },
      labels: new Map(Object.entries(labels)),
      leaseMs: LEASE_MS,
      ...others,
    } as const;
    return this.execute<AttachSession>(command);
  }

  resume(
    session: SessionId,
    running: readonly string[],
    given: TestOffer = {},
  ): AttachSessionReply {
    return this.attach({ ...given, resume: { session, running } });
  }

  report(session: SessionId, ...reports: TestReport[]): ReportAttemptsReply {
    return this.reportWith(session, reports);
  }

  /** Reports, and replaces the worker's offer. */
  reportWith(
    session: SessionId,
    reports: readonly TestReport[],
    capacity?: ReportAttempts['capacity'],
    types?: ReportAttempts['types'],
  ): ReportAttemptsReply {
    const { bytes, ends } = joined(reports.map((report) => report.payload ?? ''));
    return this.execute<ReportAttempts>({
      type: 'report_attempts',
      namespace: this.namespace,
      session,
      reports,
      ...(capacity === undefined ? {} : { capacity }),
      ...(types === undefined ? {} : { types }),
      seed: this.seed,
      payloads: bytes,
      payloadEnds: ends,
    });
  }

  /** Executes an operator's command. */
  operate<C extends Operable>(operation: Operation<C>): Replies[C['type']] {
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

  drain(session: SessionId, by?: Author): boolean {
    const { namespace } = this;
    const author = by === undefined ? {} : { by };
    return this.execute<DrainSession>({ type: 'drain_session', namespace, session, ...author })
      .found;
  }

  /** The script that a step waits for. */
  evaluation(step: number): EvaluationRequest | undefined {
    return this.partition.evaluation(step);
  }

  /** What steps and runs wait for. */
  openEvaluations(): EvaluationRequest[] {
    return this.partition.openEvaluations();
  }

  evaluated(results: ScriptsEvaluated['results']): number {
    return this.execute<ScriptsEvaluated>({ type: 'scripts_evaluated', results }).stale;
  }

  /** Fires everything that is due, in as many commands as needed. */
  /** Fires everything that is due, in as many commands as needed. */
  advance(): void {
    while (this.execute<AdvanceTime>({ type: 'advance_time', seed: this.seed }).more);
  }

  read(session: SessionId, connection: number, bytes: number): void {
    this.execute({ type: 'session_read', session, connection, bytes });
  }

  hear(): void {
    this.execute({ type: 'renew_sessions' });
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

  /** Why a task is not running. */
  explanation(number: number): Explanation {
    return this.partition.explain(this.state.tasks.find(number as TaskNumber));
  }

  /** The task that each session reserves room for. */
  reservations(): ReadonlyMap<SessionId, number> {
    const ids = this.known.sessions.keys();
    return reservationsOf(this.partition, ids);
  }

  /** The partition that a restarted server gets from the log. */
  replayed(): Partition {
    const partition = this.newPartition();
    for (const batch of this.log()) partition.replay(batch, 0);
    return partition;
  }

  /** Saves the current state for `restored`. */
  snapshot(): void {
    this.saved = { ...snapshotOf(this.partition), behind: this.log().length };
  }

  /** The partition that a restarted server gets from the newest snapshot and the log after it. */
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

  /** Restarts from the log, or from the newest snapshot and the log after it. */
  restart(graceMsMin = 0, { fromSnapshot = false } = {}): void {
    this.partition = fromSnapshot ? this.restored() : this.replayed();
    this.partition.expectHolders(this.now, graceMsMin);
    this.latest = 0;
    this.known.restart(this.state);
  }

  private newPartition(): Partition {
    const fixed = { partition: 0, limits: this.limits, utf8: testUtf8 };
    const usual = { hashEvery: HASH_EVERY, coldRunUnits: Infinity };
    return new Partition({ ...fixed, ...usual, ...this.options });
  }

  private execute<C extends Command>(timeless: Timeless<C>): Replies[C['type']] {
    const command = { ...timeless, now: this.now } as unknown as C;
    this.latest = Math.max(this.now, this.latest, this.state.now);
    this.partition.grantsLeases = this.grantsLeases;
    this.marks = MarkWatch.begin(this.partition, this.marks);
    const reply = this.partition.execute(command, this.writer);
    if (this.writer.recordCount >= RECORDS_PER_BATCH) this.closeBatch();
    this.takeOutputs();
    this.known.follow(command, reply, { state: this.state, now: this.latest });
    this.known.followOutputs(this.state, this.partition.outputs);
    this.check();
    const moment = { at: this.latest, sessions: this.known.sessions.keys() };
    this.options.watch?.(carriedCommand(this.partition, command, reply, moment));
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
    this.pushes = pushSlots.map((slot, index) => pushOf(this.state, pushSessions[index], slot));
    this.ended = endedSlots.map((slot) => this.state.tasks.number[slot]);
    this.closed = [...closedSessions];
    this.deliveries = [...this.partition.outputs.deliveries];
    const { cancels, signals } = this.partition.outputs;
    this.cancels = cancels.map(({ session, slot, reason, graceMs }) => ({
      ...pushOf(this.state, session, slot),
      reason: REASONS[reason],
      graceMs,
    }));
    this.signals = signals.map(({ session, slot, name, data }) => ({
      ...pushOf(this.state, session, slot),
      name,
      data: testUtf8.decode(data),
    }));
  }

  private check(): void {
    const pushed = new Set(this.pushes.map((push) => push.session));
    const moment = { pushed, kept: this.reservations(), now: this.latest };
    const problems = [...stateProblems(this.state), ...(this.marks?.problems() ?? [])];
    // A command that expired this many tasks may have left the matching to the next
    // (matching.no-overdue).
    if (this.grantsLeases && this.ended.length < OVERDUE_PER_COMMAND) {
      problems.push(...matchingProblems(this.state, this.known.sessions.values(), moment));
    }
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }
}

/** A snapshot with copied pieces, which stays valid. */
export function snapshotOf(partition: Partition): StateSnapshot & { pieces: Uint8Array[] } {
  const pieces: Uint8Array[] = [];
  partition.save((piece) => pieces.push(piece.slice()));
  return { schema: SNAPSHOT_SCHEMA, hash: partition.hashState(), pieces };
}

function leaseOf({ tasks }: ReadonlyState, slot: Slot): string {
  return leaseTokenText({ partition: 0, slot, number: tasks.lease[slot] as LeaseNumber });
}
