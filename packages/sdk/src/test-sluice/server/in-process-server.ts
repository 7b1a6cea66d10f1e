import { CronCalendar } from '@sluice/calendar';
import {
  type Command,
  DEFAULT_NAMESPACE,
  type EvaluationRequest,
  findTask,
  isHeld,
  type LeaseNumber,
  leaseTokenText,
  lookIntoBlobs,
  NO_SLOT,
  Partition,
  parseLeaseToken,
  queueKey,
  REASONS,
  type ReadonlyState,
  RecordWriter,
  type Replies,
  type Report,
  type SessionId,
  type Slot,
} from '@sluice/core';
import type { Resources } from '../../task/task-options.ts';
import type { TaskView } from '../../task/task-view.ts';
import type { Attempt } from '../../worker/attempt-context.ts';
import type { AbortReason } from '../../worker/worker-ports.ts';
import { AttemptHistory } from './attempt-history.ts';
import { joinedPayloads, UTF8 } from './payloads.ts';
import { evaluateScript } from './scripts.ts';
import { inputOf, taskIdOf, taskView } from './task-views.ts';
import type { TestBlobs } from './test-blobs.ts';

export interface InProcessOptions {
  /** Start time of the clock. */
  readonly startAt: number;
  /** Seed of the jitter; the same seed gives the same delays. */
  readonly seed: number;
  readonly types: readonly { readonly type: string; readonly concurrency?: number }[];
  readonly capacity: Resources & { readonly slots: number };
  readonly labels: Readonly<Record<string, string>>;
  readonly blobs: TestBlobs;
}

/** Events for the worker of the server. */
export interface WorkerEars {
  pushed(attempt: Attempt): void;
  /** The handler must stop. */
  stop(lease: string, reason: AbortReason): void;
  signalled(lease: string, name: string, data: unknown): void;
  ended(task: TaskView): void;
  runEnded(run: Slot): void;
}

const LIMITS = {
  tasksMax: 20_000,
  finishedTasksMax: 20_000,
  deadLettersMax: 20_000,
  // A test sends no callbacks.
  callbacksMax: 2 ** 50,
  sessionsMax: 2,
  dedupeKeysMax: 20_000,
  payloadBytesMax: 2 ** 30,
  // The one worker reads at once.
  unsentBytesMax: 2 ** 50,
} as const;

const SESSION = 's_in_process' as SessionId;
/** Never expires: there is no check for silent workers here. */
const LEASE_MS = 600_000;

type Timeless<Type> = Omit<Extract<Command, { type: Type }>, 'now' | 'type'> & { type: Type };

/**
 * A partition of the real core with one worker, in this process. Nothing is written to disk, and
 * time passes only on request.
 */
export class InProcessServer {
  readonly partition = new Partition({
    partition: 0,
    limits: LIMITS,
    utf8: UTF8,
    calendar: new CronCalendar(),
  });
  private readonly writer = new RecordWriter(UTF8);
  private readonly attempts = new AttemptHistory();
  private readonly ears: WorkerEars;
  private readonly blobs: TestBlobs;
  /** Leases whose handlers were started and have not reported their end. */
  private readonly held = new Set<string>();
  private draws: number;
  private isProceeding = false;
  /** Scripts that the core asked for and that have not been evaluated. */
  private readonly scripts: EvaluationRequest[] = [];
  /** Called with the events of each command; undefined while nobody follows them. */
  onBatch: ((batch: Uint8Array) => void) | undefined;
  /** Called after each command: something may be due that was not before. */
  onCommand: (() => void) | undefined;
  now: number;
  /** Number of commands, for callers that wait until nothing happens. */
  commands = 0;

  constructor(options: InProcessOptions, ears: WorkerEars) {
    this.ears = ears;
    this.blobs = options.blobs;
    this.now = options.startAt;
    this.draws = options.seed;
    this.execute({
      type: 'attach_session',
      newSession: SESSION,
      namespace: DEFAULT_NAMESPACE,
      worker: 'test',
      version: '',
      types: options.types,
      capacity: options.capacity,
      labels: new Map(Object.entries(options.labels)),
      leaseMs: LEASE_MS,
    });
  }

  /** Leases of the handlers that run. A handler that lost its lease does not count. */
  get leases(): ReadonlySet<string> {
    return this.held;
  }

  /** The handler that runs the task; undefined when none does. */
  leaseOf(slot: Slot): string | undefined {
    return [...this.held].find((lease) => parseLeaseToken(lease)?.slot === slot);
  }

  /** Nothing happens by itself before this time. */
  get nextTimerAt(): number {
    return this.partition.nextTimerAt;
  }

  /** Whether anything is due for tasks or runs. A dedupe key that expires changes none. */
  get hasTaskTimers(): boolean {
    const { timers, dedupe, runs } = this.partition.state;
    const waiting = timers.count + runs.timers.count + runs.stepTimers.count;
    return waiting > 0 || this.partition.nextTimerAt < dedupe.earliest();
  }

  /** Executes a command. `read` sees the state right after it, before any other command. */
  execute<Type extends Command['type'], T = void>(
    command: Timeless<Type>,
    read: (reply: Replies[Type], state: ReadonlyState) => T = () => undefined as T,
  ): T {
    this.commands += 1;
    const timed = { ...command, now: this.now } as unknown as Command & { type: Type };
    const reply = this.partition.execute(timed, this.writer) as Replies[Type];
    const batch = this.writer.bytes.subarray(0, this.writer.length);
    this.attempts.read(batch);
    this.onBatch?.(batch);
    this.writer.reset();
    const told = this.told();
    const value = read(reply, this.partition.state);
    // A handler may execute the next command while it is being started.
    for (const tell of told) tell();
    this.proceed();
    this.onCommand?.();
    return value;
  }

  /** A command does a limited amount of work for runs. The rest needs no time, nor do scripts. */
  private proceed(): void {
    if (this.isProceeding) return;
    this.isProceeding = true;
    try {
      for (;;) {
        const asked = this.scripts.splice(0);
        if (asked.length > 0) this.evaluate(asked);
        else if (this.isRunDue) this.execute({ type: 'advance_time', seed: this.draw() });
        else return;
      }
    } finally {
      this.isProceeding = false;
    }
  }

  private get isRunDue(): boolean {
    const { state, nextTimerAt } = this.partition;
    return state.runs.line.length > 0 && nextTimerAt <= this.now;
  }

  private evaluate(asked: readonly EvaluationRequest[]): void {
    const read = (blob: string): Uint8Array => UTF8.encode(this.blobs.read(blob));
    const results = asked.map(({ run, step, evaluation, language, source, input }) => {
      const asks = { run, step, evaluation };
      if (language !== 'extract') return { ...asks, ...evaluateScript(source, input) };
      const keys = JSON.parse(input) as string[];
      return { ...asks, values: lookIntoBlobs(keys, { read, utf8: UTF8 }) };
    });
    this.execute({ type: 'scripts_evaluated', results });
  }

  /** A worker's report on an attempt. The payload belongs to a final report. */
  report(report: Report, payload?: unknown): void {
    const isEnd = !['started', 'progress', 'heartbeat'].includes(report.kind);
    if (isEnd) this.held.delete(report.lease);
    const { bytes, ends } = joinedPayloads([payload], () => '/output', this.blobs);
    this.execute({
      type: 'report_attempts',
      namespace: DEFAULT_NAMESPACE,
      session: SESSION,
      reports: [report],
      seed: this.draw(),
      payloads: bytes,
      payloadEnds: ends,
    });
  }

  /** Lets time pass and fires due timers. */
  advanceTo(time: number): void {
    this.now = Math.max(this.now, time);
    let hasMore = true;
    while (hasMore) {
      hasMore = this.execute({ type: 'advance_time', seed: this.draw() }, ({ more }) => more);
    }
  }

  find(id: string): Slot | undefined {
    const slot = findTask(this.partition.state, DEFAULT_NAMESPACE, id);
    return slot === NO_SLOT ? undefined : slot;
  }

  /** What `register` stored for the type; undefined when it stored nothing. */
  definitionOf(type: string): object | undefined {
    return this.partition.state.taskTypes.get(queueKey(DEFAULT_NAMESPACE, type));
  }

  view(slot: Slot): TaskView {
    return taskView(this.partition, slot, (name) => this.blobs.read(name));
  }

  /** The task with all its attempts; `view` has only the newest, as other answers of a server. */
  viewWithAttempts(slot: Slot): TaskView {
    const view = this.view(slot);
    const number = this.partition.state.tasks.number[slot];
    return { ...view, attempts: this.attempts.withEarlier(number, view.attempts) };
  }

  /** Why the task is not running, as text. */
  explain(slot: Slot): string {
    const { reasons } = this.partition.explain(slot);
    return reasons.map(({ message }) => message).join('; ');
  }

  /** The actions that the last command's outputs ask for, to run after it. */
  private told(): (() => void)[] {
    const { state, outputs } = this.partition;
    this.scripts.push(...outputs.evaluations);
    const told: (() => void)[] = [];
    for (const { slot, reason, graceMs } of outputs.cancels) {
      const word = REASONS[reason];
      const type = word.endsWith('timeout') ? 'timed_out' : 'cancelled';
      const lease = leaseOf(state, slot);
      told.push(() => this.ears.stop(lease, { type, graceMs, reason: word }));
    }
    for (const { slot, name, data } of outputs.signals) {
      const lease = leaseOf(state, slot);
      const value: unknown = data.length === 0 ? null : JSON.parse(UTF8.decode(data));
      told.push(() => this.ears.signalled(lease, name, value));
    }
    for (const lease of this.lostLeases()) {
      this.held.delete(lease);
      told.push(() => this.ears.stop(lease, { type: 'lease_lost' }));
    }
    for (const slot of outputs.endedSlots) {
      const view = this.view(slot);
      told.push(() => this.ears.ended(view));
    }
    for (const slot of outputs.endedRuns) told.push(() => this.ears.runEnded(slot));
    for (const slot of outputs.pushSlots) told.push(this.push(slot));
    return told;
  }

  private push(slot: Slot): () => void {
    const { state } = this.partition;
    const { tasks } = state;
    const lease = leaseOf(state, slot);
    const attempt: Attempt = {
      id: taskIdOf(state, slot),
      type: state.typeOf(slot),
      attempt: tasks.attempt[slot],
      maxAttempts: state.texts.retry.at(tasks.retry[slot]).maxAttempts,
      lease,
      ...inputOf(state, slot),
      tags: state.texts.tags.at(tasks.tags[slot]) ?? {},
    };
    this.held.add(lease);
    return () => {
      this.report({ lease, kind: 'started' });
      if (this.held.has(lease)) this.ears.pushed(attempt);
    };
  }

  /** Leases that were taken away, or ended by a call from outside. */
  private lostLeases(): string[] {
    const { tasks } = this.partition.state;
    return [...this.held].filter((lease) => {
      const key = parseLeaseToken(lease);
      if (key === undefined) return true;
      return !tasks.hasLease(key.slot, key.number) || !isHeld(tasks.state[key.slot]);
    });
  }

  /** The next 32 bits of a deterministic sequence. */
  private draw(): number {
    this.draws = (Math.imul(this.draws, 1_664_525) + 1_013_904_223) >>> 0;
    return this.draws;
  }
}

function leaseOf(state: ReadonlyState, slot: Slot): string {
  const number = state.tasks.lease[slot] as LeaseNumber;
  return leaseTokenText({ partition: state.partition, slot, number });
}
