import {
  type DetachSession,
  type ExpireSessions,
  invariant,
  LEVEL,
  REQUEST_KEYS_LEVEL,
  type ReadonlyState,
  type RenewSessions,
  type ReportAttempts,
  type ReportAttemptsReply,
  type SessionId,
  type SubmitTasks,
  type SubmitTasksReply,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { isSessionId, SluiceError, type TaskRequest } from '@sluice/protocol';
import type { BlobHolder } from '../blobs/blob-store.ts';
import { blobsNamedIn, blobsOfFiles, withBlobs } from '../blobs/named-blobs.ts';
import { type Clocks, Standstill } from '../clock/standstill.ts';
import { olderInputWords, useInputWords } from '../dedupe/dedupe-hashes.ts';
import type { RequestKey } from '../dedupe/request-key.ts';
import type { Admission } from '../limits/admission.ts';
import type { AttemptLines } from '../logs/log-file.ts';
import { linesOf, logReportsOf } from '../logs/log-reports.ts';
import type { LogSink } from '../logs/task-logs.ts';
import type { QueueRates } from '../queues/queue-rates.ts';
import { readTask } from '../tasks/read-task.ts';
import {
  firstIdOf,
  type LateAnswer,
  lateAnswer,
  renderSubmitted,
  type TaskEnds,
} from '../tasks/submit-answer.ts';
import { SubmitParser } from '../tasks/submit-parser.ts';
import { attachSession } from '../workers/attach-session.ts';
import { measuredIn, ReportParser } from '../workers/report-parser.ts';
import { SessionParser } from '../workers/session-parser.ts';
import { type StreamSink, WorkerStream } from '../workers/worker-stream.ts';
import type { WorkerStreams } from '../workers/worker-streams.ts';

export interface GatewayOptions extends Clocks {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly streams: WorkerStreams;
  readonly rates: QueueRates;
  readonly logs: LogSink;
  readonly blobs: BlobHolder;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Unguessable: a worker needs only this id to act for a session. */
  readonly newSessionId: () => string;
  /** Nothing newer may be written; absent: the newest. */
  readonly levelOf?: () => number;
  /** The states of tasks that have left memory, by id, as far as there are records. */
  readonly ends?: (namespace: string, ids: readonly string[]) => Promise<TaskEnds>;
  /** Called with the number of tasks in a submit that existed already. */
  readonly onRecognised?: (tasks: number) => void;
}

export interface Submitted {
  /** False when a single task existed already. */
  readonly isNew: boolean;
  readonly json: Buffer;
  /** Id of the first task, or of the only one. */
  readonly firstId: string;
  /** The key of the request, if it is remembered by it. */
  readonly key: string | undefined;
}

interface Rendered extends Omit<Submitted, 'json' | 'key'> {
  readonly answer: Buffer | LateAnswer;
}

interface SubmitOptions {
  /** May refuse before there is an effect. */
  readonly admit?: (() => void) | undefined;
  /** The key of the whole request. */
  readonly key?: RequestKey | undefined;
}

/** Words for the claims of some tasks, by their places in the submit. */
type OlderInputs = Map<number, Uint32Array>;

interface SubmitTry extends SubmitOptions {
  readonly older?: OlderInputs;
}

/**
 * Handles requests once their bodies are read, independent of sockets. The routes call it over
 * HTTP, the simulator over a simulated network.
 */
export class Gateway {
  private readonly options: GatewayOptions;
  private readonly submits = new SubmitParser();
  private readonly sessions = new SessionParser();
  private readonly reports: ReportParser;
  private readonly standstill: Standstill;

  constructor(options: GatewayOptions) {
    this.options = options;
    this.reports = new ReportParser(options.random);
    this.standstill = new Standstill(options);
  }

  /** Takes one task or an array, all or nothing. */
  async submit(
    namespace: string,
    body: unknown,
    { admit, key }: SubmitOptions = {},
  ): Promise<Submitted> {
    // Servers of an older level would not know the key if they took over (level.waits).
    const known = this.knowsRequestKeys ? key : undefined;
    const items: readonly unknown[] = Array.isArray(body) ? body : [body];
    const pathOf = (index: number) => (Array.isArray(body) ? `/${index}` : '');
    const named = [...blobsNamedIn(items, 'inputBlob', pathOf), ...blobsOfFiles(items, pathOf)];
    // Problems of the request itself are reported before missing blobs.
    if (named.length > 0) this.submits.parse(namespace, body);
    return withBlobs(this.options.blobs, namespace, named, () => {
      return this.submitNow(namespace, body, { admit, key: known });
    });
  }

  private get knowsRequestKeys(): boolean {
    return (this.options.levelOf?.() ?? LEVEL) >= REQUEST_KEYS_LEVEL;
  }

  private async submitNow(
    namespace: string,
    body: unknown,
    options: SubmitOptions,
  ): Promise<Submitted> {
    const first = await this.trySubmit(namespace, body, options);
    if (!(first instanceof Map)) return first;
    const second = await this.trySubmit(namespace, body, { key: options.key, older: first });
    invariant(!(second instanceof Map), 'a submit is tried twice at most');
    return second;
  }

  /** Returns what version 0.1 took for the same, if the submit must be tried again with that. */
  private async trySubmit(
    namespace: string,
    body: unknown,
    { admit, key, older }: SubmitTry,
  ): Promise<Submitted | OlderInputs> {
    const command = this.submits.parse(namespace, body, key);
    const { dedupe } = command;
    if (dedupe !== undefined && older !== undefined) useInputWords(dedupe, older);
    this.refuseWhileWaking();
    this.options.admission.command(command.type);
    admit?.();
    const isArray = Array.isArray(body);
    const requests = (isArray ? body : [body]) as TaskRequest[];
    const keys = requests.map(({ dedupeKey }) => dedupeKey);
    type Tried = OlderInputs | Rendered;
    const tried = await this.options.engine.execute<SubmitTasks, Tried>(command, (reply, state) => {
      if (reply.rejection === 'dedupe_mismatch' && dedupe !== undefined && older === undefined) {
        const found = olderInputWords(requests, dedupe, state);
        if (found.size > 0) return found;
      }
      this.countSubmitted(reply, state);
      return {
        isNew: isArray || reply.known === undefined,
        answer:
          lateAnswer(reply, state, isArray) ?? renderSubmitted(reply, state, { isArray, keys }),
        firstId: firstIdOf(reply, state),
      };
    });
    if (tried instanceof Map) return tried;
    const { answer, ...others } = tried;
    const json = Buffer.isBuffer(answer) ? answer : await this.renderLate(namespace, answer);
    return { ...others, json, key: key?.key };
  }

  private async renderLate(namespace: string, { gone, render }: LateAnswer): Promise<Buffer> {
    return render((await this.options.ends?.(namespace, gone)) ?? new Map());
  }

  /** Refuses what would submit something, right after a standstill. */
  refuseWhileWaking(): void {
    if (this.standstill.isWaking) throw stoodStill();
  }

  private countSubmitted({ slots, known }: SubmitTasksReply, { tasks }: ReadonlyState): void {
    if (known !== undefined) this.options.onRecognised?.(known.size);
    slots.forEach((slot, place) => {
      if (known === undefined || !known.has(place)) this.options.rates.submitted(tasks.queue[slot]);
    });
  }

  /** The current task, as JSON text. */
  async get(namespace: string, id: string): Promise<string> {
    this.options.admission.read();
    return readTask(this.options.engine, namespace, id);
  }

  /** Opens or resumes a session. Its messages go to the sink from here on. */
  async attach(namespace: string, body: unknown, openSink: () => StreamSink): Promise<void> {
    const { engine, admission, streams, monotonic } = this.options;
    const newSession = this.options.newSessionId() as SessionId;
    const command = this.sessions.parse(namespace, body, newSession);
    admission.command(command.type);
    if (streams.isDraining) throw goingAway();
    const openStream = () => new WorkerStream(openSink(), monotonic);
    await attachSession(engine, streams, command, openStream);
  }

  async detach(namespace: string, sessionId: string): Promise<void> {
    const session = sessionId as SessionId;
    const command = { type: 'detach_session', namespace, session } as const;
    this.options.admission.command(command.type);
    const { found } = await this.options.engine.execute<DetachSession, { found: boolean }>(
      command,
      (result) => result,
    );
    if (!found) throw new SluiceError('session_not_found', 'no such worker session');
  }

  /** Returns the outcomes as JSON text. */
  async report(namespace: string, sessionId: string, body: unknown): Promise<string> {
    // Without this check, a worker with a bug would get `stale_lease` and discard its results.
    if (!isSessionId(sessionId)) {
      throw new SluiceError('session_not_found', 'this is not the id of a worker session');
    }
    const session = sessionId as SessionId;
    const reports = (body as { readonly reports?: unknown } | null | undefined)?.reports;
    const items: readonly unknown[] = Array.isArray(reports) ? reports : [];
    const named = blobsNamedIn(items, 'outputBlob', (index) => `/reports/${index}`);
    if (named.length > 0) this.reports.parse(namespace, session, body);
    return withBlobs(this.options.blobs, namespace, named, () => {
      return this.reportNow(namespace, session, body);
    });
  }

  private async reportNow(namespace: string, session: SessionId, body: unknown): Promise<string> {
    const command = this.reports.parse(namespace, session, body);
    this.options.admission.command(command.type);
    const logged = logReportsOf(body);
    const measured = measuredIn(body);
    const { found, json, kept } = await this.options.engine.execute<ReportAttempts, ReportAnswer>(
      command,
      (reply, state) => {
        if (measured !== undefined && reply.found) {
          this.options.streams.measure(session, { ...measured, at: this.options.clock() });
        }
        const lines = logged.flatMap((report) => linesOf(report, reply, state));
        return { ...reportAnswer(reply), kept: this.keepLines(lines) };
      },
    );
    await kept;
    if (!found && command.reports.length === 0) {
      throw new SluiceError('session_not_found', 'no such worker session; open a new one');
    }
    return json;
  }

  /**
   * Lines are less important than reports. They do not wait for the log, so they are readable
   * before the end of their task is announced. Lines that cannot be written are lost; the reports
   * are not.
   */
  private keepLines(lines: readonly Omit<AttemptLines, 'at'>[]): Promise<unknown> | undefined {
    if (lines.length === 0) return undefined;
    const at = this.options.clock();
    return Promise.allSettled(lines.map((each) => this.options.logs.append({ ...each, at })));
  }

  /**
   * Runs every `TICK_MS`: sends pings to idle workers, and expires sessions that were silent too
   * long.
   */
  tick(): void {
    this.options.streams.tick(this.options.monotonic());
    this.execute(this.standstill.beat() ? 'renew_sessions' : 'expire_sessions');
  }

  /**
   * Runs before timers fire. After a standstill, messages that workers sent meanwhile are still
   * unread.
   */
  beforeTimers(): void {
    if (this.standstill.hasBeen()) this.execute('renew_sessions');
  }

  private execute(type: 'renew_sessions' | 'expire_sessions'): void {
    // A stopped engine has already reported it.
    this.options.engine
      .execute<RenewSessions | ExpireSessions, void>({ type }, () => undefined)
      .catch(() => undefined);
  }
}

/**
 * A submit that waited through a standstill may have been resent and stored since, and its dedupe
 * key may be forgotten by now. A client that still waits sends it again.
 */
function stoodStill(): SluiceError {
  const message = 'the server was suspended for a while; send the request again';
  return new SluiceError('unavailable', message, { retryAfterMs: 1000 });
}

function goingAway(): SluiceError {
  const message = 'the server is stopping; connect to another one, or try again later';
  return new SluiceError('unavailable', message, { retryAfterMs: 1000 });
}

interface ReportAnswer {
  readonly found: boolean;
  readonly json: string;
  /** Settles when the log lines in the request are written. */
  readonly kept: Promise<unknown> | undefined;
}

/** An unknown session still gets outcomes: a repeated report must get `duplicate` (L6). */
function reportAnswer({ found, outcomes }: ReportAttemptsReply): Omit<ReportAnswer, 'kept'> {
  return { found, json: JSON.stringify({ outcomes }) };
}
