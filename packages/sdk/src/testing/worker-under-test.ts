import type { PushedTask } from '@sluice/protocol';
import type { Cancel, HttpAnswer, HttpRequest, StreamListener } from '../base/ports.ts';
import type { AbortReason, SessionNotice, WorkerPorts } from '../worker/worker-ports.ts';
import { WorkerSession, type WorkerSessionOptions } from '../worker/worker-session.ts';
import { ScriptedHttp, type ScriptedRequest, type ScriptedStream } from './scripted-http.ts';
import { VirtualTime } from './virtual-time.ts';

export const HEARTBEAT_MS = 5000;

/** The constant wall time of a worker under test. */
export const WALL_TIME = 1_900_000_000_000;

/** A session. The test controls its server, network, clock and handlers. */
export class WorkerUnderTest implements WorkerPorts {
  readonly time = new VirtualTime();
  readonly http = new ScriptedHttp();
  readonly session: WorkerSession;
  readonly runs: PushedTask[] = [];
  readonly aborts: { lease: string; reason: AbortReason }[] = [];
  readonly signals: { lease: string; name: string; data: unknown }[] = [];
  readonly notices: SessionNotice[] = [];
  /** While set, everything happens in one turn, which ends when time passes. */
  isOneTurn = false;
  /** The next random number. */
  chance = 0.5;

  constructor(options: Partial<WorkerSessionOptions> = {}) {
    const types = [{ type: 'a' }];
    this.session = new WorkerSession({ name: 'w', types, addresses: 1, ...options }, this);
    this.session.start();
  }

  /** A welcomed worker with these leases pushed to it. */
  static welcomed(options: Partial<WorkerSessionOptions> = {}, ...leases: string[]) {
    const worker = new WorkerUnderTest(options);
    worker.welcome();
    if (leases.length > 0) worker.push(...leases.map((lease) => pushed(lease)));
    return worker;
  }

  welcome({ resumed = false, lost = [] as string[], sessionId = 's_1' } = {}): void {
    const welcome = { sessionId, heartbeatMs: HEARTBEAT_MS, leaseMs: 15_000, resumed, lost };
    this.stream.push('welcome', welcome);
  }

  push(...tasks: PushedTask[]): void {
    this.stream.push('tasks', tasks);
  }

  /** The newest stream. */
  get stream(): ScriptedStream {
    return this.http.streams.at(-1) as ScriptedStream;
  }

  get requests(): ScriptedRequest[] {
    return this.http.requests;
  }

  /** The newest request. */
  get request(): ScriptedRequest {
    return this.requests.at(-1) as ScriptedRequest;
  }

  /** Breaks the stream and lets the pause before the next one pass. */
  reconnect(): void {
    this.stream.end();
    this.time.advance(100);
  }

  succeed(lease: string, output?: unknown): void {
    this.session.finish(lease, { kind: 'succeeded', output: JSON.stringify(output) ?? 'null' });
  }

  /** Answers to final reports. */
  get outcomes(): string[] {
    return this.notices.flatMap((notice) =>
      notice.type === 'report_answered' ? [`${notice.lease} ${notice.kind} ${notice.outcome}`] : [],
    );
  }

  now(): number {
    return this.time.now();
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    return this.time.startTimer(delayMs, run);
  }

  /** Every step of a test is a separate turn, unless `isOneTurn` is set. */
  atEndOfTurn(run: () => void): void {
    if (this.isOneTurn) this.time.atEndOfTurn(run);
    else run();
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    return this.http.send(request, answered);
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    return this.http.openStream(request, listener);
  }

  random(): number {
    return this.chance;
  }

  wallTime(): number {
    return WALL_TIME;
  }

  run(task: PushedTask): void {
    this.runs.push(task);
  }

  abort(lease: string, reason: AbortReason): void {
    this.aborts.push({ lease, reason });
  }

  signal(lease: string, name: string, data: unknown): void {
    this.signals.push({ lease, name, data });
  }

  notify(notice: SessionNotice): void {
    this.notices.push(notice);
  }
}

export function pushed(lease: string, more: Partial<PushedTask> = {}): PushedTask {
  const task = { id: `t_${lease}`, type: 'a', attempt: 1, resources: { slots: 1 }, input: null };
  return { ...task, lease, ...more };
}
