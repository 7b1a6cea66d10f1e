import type {
  AttachSession,
  AttachSessionReply,
  DetachSession,
  PartitionOptions,
  ReadonlyState,
  Report,
  ReportAttempts,
  ReportAttemptsReply,
  SessionId,
  Slot,
  SubmitTasks,
} from '@sluice/core';
import { type LeaseNumber, leaseTokenText, REASONS, TASK_STATES } from '@sluice/core';
import { type LogExtent, MemoryLog, MemoryLogStore, type SnapshotStore } from '@sluice/log';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import type { AdmissionBounds } from '../admission.ts';
import type { FeedOptions } from '../committed-feed.ts';
import { Engine } from '../engine.ts';
import type { EngineNotice } from '../engine-notice.ts';
import type { FollowedPartition } from '../recovery.ts';
import type { Term } from '../term.ts';
import { ManualFolds } from './manual-folds.ts';
import { RecordingLog } from './recording-log.ts';
import { RecordingOutputs } from './recording-outputs.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const UTF8 = {
  encode: (text: string) => encoder.encode(text),
  decode: (bytes: Uint8Array) => decoder.decode(bytes),
};

/** A larger input breaks an invariant of the core. */
export const ARENA_CHUNK_BYTES = 256;

export interface TestEngineOptions {
  readonly store?: MemoryLogStore;
  /** Called before the engine starts. */
  readonly prepare?: (test: TestEngine) => void;
  readonly extent?: LogExtent;
  readonly feed?: FeedOptions;
  readonly finishedTasksMax?: number;
  readonly snapshots?: SnapshotStore;
  /** Bytes of log between two folds. */
  readonly everyBytes?: number;
  readonly admission?: AdmissionBounds;
  readonly tasksMax?: number;
  readonly graceMsMin?: number;
  readonly now?: number;
  readonly onRecovered?: (latest: number) => void;
  readonly followed?: FollowedPartition;
  readonly term?: Term;
}

export function partitionOptions(options: TestEngineOptions = {}): PartitionOptions {
  const { tasksMax = 100, finishedTasksMax = 50 } = options;
  return {
    partition: 0,
    limits: {
      tasksMax,
      finishedTasksMax,
      deadLettersMax: 100,
      callbacksMax: 100,
      sessionsMax: 100,
      dedupeKeysMax: 100,
      payloadBytesMax: 100_000,
      unsentBytesMax: 100_000,
      arenaChunkBytes: ARENA_CHUNK_BYTES,
    },
    utf8: UTF8,
    hashEvery: 5,
  };
}

/** An engine on a memory log that can be delayed, with a clock that the test controls. */
export class TestEngine {
  readonly outputs = new RecordingOutputs();
  readonly store: MemoryLogStore;
  readonly faults: FaultyLog;
  readonly log: RecordingLog;
  readonly folds = new ManualFolds();
  /** Notices other than `recovered`. */
  readonly notices: EngineNotice[] = [];
  recovered: EngineNotice | undefined;
  /** The causes passed to `onStopped`. */
  readonly stops: Error[] = [];
  now: number;
  private started: Engine | undefined;
  private nonces = 0;
  private timer: { readonly delayMs: number; readonly run: () => void } | undefined;

  private constructor(options: TestEngineOptions) {
    this.store = options.store ?? new MemoryLogStore();
    this.faults = new FaultyLog(new MemoryLog(this.store));
    this.log = new RecordingLog(this.faults);
    this.now = options.now ?? 1_000_000;
  }

  static async start(options: TestEngineOptions = {}): Promise<TestEngine> {
    const test = new TestEngine(options);
    options.prepare?.(test);
    const { snapshots, everyBytes = 1 } = options;
    const partition = partitionOptions(options);
    test.started = await Engine.start({
      log: test.log,
      ...(options.extent === undefined ? {} : { extent: options.extent }),
      ...(options.feed === undefined ? {} : { feed: options.feed }),
      ...(options.followed && { followed: options.followed }),
      ...(options.term && { term: options.term }),
      partition,
      outputs: test.outputs,
      ...(options.admission === undefined ? {} : { admission: options.admission }),
      startTimer: (delayMs, run) => test.startTimer(delayMs, run),
      clock: () => test.now,
      ...(options.onRecovered === undefined ? {} : { onRecovered: options.onRecovered }),
      nonce: () => {
        test.nonces += 1;
        return test.nonces * 1000;
      },
      atEndOfTurn: setImmediate,
      graceMsMin: options.graceMsMin ?? 0,
      notify: (notice) => {
        if (notice.type === 'recovered') test.recovered = notice;
        else test.notices.push(notice);
      },
      ...(snapshots === undefined
        ? {}
        : {
            snapshots: {
              store: snapshots,
              everyBytes,
              startFold: test.folds.starter({ partition, snapshots, log: test.store }),
            },
          }),
      onStopped: (cause) => test.stops.push(cause),
    });
    return test;
  }

  /** Delay of the timer that is set; undefined when none is. */
  get timerMs(): number | undefined {
    return this.timer?.delayMs;
  }

  /** Fires the timer that was set last. */
  fireTimer(): void {
    if (this.timer === undefined) throw new Error('no timer is set');
    const { run } = this.timer;
    this.timer = undefined;
    run();
  }

  get engine(): Engine {
    if (this.started === undefined) throw new Error('the engine has not started');
    return this.started;
  }

  /** Returns the numbers of the tasks, or why they were refused. */
  submit(...inputs: string[]): Promise<string> {
    const parts = inputs.map((input) => encoder.encode(input));
    const inputEnds = parts.map((_, index) =>
      parts.slice(0, index + 1).reduce((sum, part) => sum + part.length, 0),
    );
    const request = {
      type: 'submit_tasks' as const,
      namespace: 'default',
      tasks: inputs.map(() => ({ type: 'hello' })),
      inputs: encoder.encode(inputs.join('')),
      inputEnds,
    };
    return this.engine.execute<SubmitTasks, string>(request, ({ rejection, slots }, state) =>
      rejection === undefined
        ? `submitted ${slots.map((slot) => state.tasks.number[slot]).join()}`
        : `refused: ${rejection}`,
    );
  }

  /** Stages a welcome among the outputs, as the server does. */
  attach(id: string, slots: number, running?: readonly string[]): Promise<AttachSessionReply> {
    const session = id as SessionId;
    const request = {
      type: 'attach_session' as const,
      namespace: 'default',
      newSession: session,
      worker: `worker of ${id}`,
      version: '1',
      types: [{ type: 'hello' }],
      capacity: { slots },
      labels: new Map<string, string>(),
      leaseMs: 10_000,
      ...(running === undefined ? {} : { resume: { session, running } }),
    };
    return this.engine.execute<AttachSession, AttachSessionReply>(request, (reply) => {
      this.outputs.add(`welcome ${reply.session}`);
      return reply;
    });
  }

  detach(id: string): Promise<boolean> {
    const request = {
      type: 'detach_session' as const,
      namespace: 'default',
      session: id as SessionId,
    };
    return this.engine.execute<DetachSession, boolean>(request, (reply) => reply.found);
  }

  report(id: string, ...reports: Report[]): Promise<ReportAttemptsReply> {
    const request = {
      type: 'report_attempts' as const,
      namespace: 'default',
      session: id as SessionId,
      reports,
      seed: 1,
      payloads: new Uint8Array(0),
      payloadEnds: reports.map(() => 0),
    };
    return this.engine.execute<ReportAttempts, ReportAttemptsReply>(request, (reply) => reply);
  }

  submitDelayed(delayMs: number): Promise<void> {
    const request = {
      type: 'submit_tasks' as const,
      namespace: 'default',
      tasks: [{ type: 'hello', delayMs }],
      inputs: encoder.encode(''),
      inputEnds: [0],
    };
    return this.engine.execute<SubmitTasks, void>(request, () => undefined);
  }

  count(): Promise<number> {
    return this.engine.read((state) => state.tasks.count);
  }

  /** The numbers of the tasks in these slots, by a view that says what it shows. */
  numbersIn(...slots: number[]): Promise<number[]> {
    return this.engine.readShown((state, _partition, shows) =>
      slots.map((slot) => {
        shows.task(slot as Slot);
        return state.tasks.number[slot];
      }),
    );
  }

  tasks(): Promise<readonly object[]> {
    return this.engine.read(viewTasks);
  }

  leasesOf(id: string): Promise<string[]> {
    return this.engine.read((state) => {
      const leases: string[] = [];
      const holder = state.holders.find(id as SessionId);
      if (holder < 0) return leases;
      state.holders.forEachHeld(holder, (slot) => {
        const number = state.tasks.lease[slot] as LeaseNumber;
        leases.push(leaseTokenText({ partition: 0, slot, number }));
      });
      return leases;
    });
  }

  private startTimer(delayMs: number, run: () => void): () => void {
    const timer = { delayMs, run };
    this.timer = timer;
    return () => {
      if (this.timer === timer) this.timer = undefined;
    };
  }
}

function viewTasks(state: ReadonlyState): object[] {
  const { tasks, payloads, holders } = state;
  const views: object[] = [];
  for (let slot = 0 as Slot; slot < tasks.capacity; slot++) {
    if (tasks.number[slot] === 0) continue;
    const [reference, length] = [tasks.input[slot], tasks.inputLength[slot]];
    const start = length === 0 ? 0 : payloads.startOf(reference);
    views.push({
      number: tasks.number[slot],
      type: state.typeOf(slot),
      state: TASK_STATES[tasks.state[slot]],
      reason: REASONS[tasks.reason[slot]],
      attempt: tasks.attempt[slot],
      lease: tasks.lease[slot],
      session: tasks.lease[slot] === 0 ? null : holders.at(tasks.holderOf(slot)).session,
      times: [tasks.submittedAt[slot], tasks.leasedAt[slot], tasks.endedAt[slot]],
      input:
        length === 0
          ? ''
          : decoder.decode(payloads.bytesOf(reference).subarray(start, start + length)),
    });
  }
  return views;
}
