import { HTTP_TASK_TYPE } from '@sluice/core';
import { LIMITS, SluiceError } from '@sluice/protocol';
import type { Gateway } from '../gateway/gateway.ts';
import type { HttpClient } from './http-client.ts';
import { LocalSink } from './local-sink.ts';
import { RequestFailure } from './request-failure.ts';
import { stepRequest } from './step-request.ts';

/** The name that lists of workers show. */
export const HTTP_WORKER = 'sluice-http';

/** Requests of one namespace at once. */
const SLOTS = 16;
const LEASE_MS = 30_000;
const AGAIN_MS = 500;
/** Characters of an error's message. */
const MESSAGE_MAX = 2000;

export interface HttpSessionParts {
  readonly gateway: Pick<Gateway, 'attach' | 'report'>;
  readonly client: Pick<HttpClient, 'send'>;
  readonly version: string;
}

/** A task as it is pushed to a worker. */
interface Pushed {
  readonly lease: string;
  readonly input?: unknown;
}

/**
 * The worker inside the server, in one namespace. It has a session as any other worker, so that
 * leases, retries, timeouts and cancels of its tasks are those of all tasks. Whatever it held when
 * its server died is pushed to it again when the next server resumes its session.
 */
export class HttpSession {
  private readonly parts: HttpSessionParts;
  private readonly namespace: string;
  /** Of the requests under way, by lease. */
  private readonly running = new Map<string, AbortController>();
  private readonly ends = new Set<Promise<void>>();
  private session = '';
  private resume: string | undefined;
  private beat: NodeJS.Timeout | undefined;
  private again: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** `resume` is the session that an earlier server had. */
  constructor(parts: HttpSessionParts, namespace: string, resume?: string) {
    this.parts = parts;
    this.namespace = namespace;
    this.resume = resume;
  }

  /** Opens the session, and again whenever its stream ends. */
  open(): void {
    if (this.isClosed) return;
    clearTimeout(this.again);
    const resumed =
      this.resume === undefined
        ? {}
        : { resume: { sessionId: this.resume, running: [...this.running.keys()] } };
    const body = {
      name: HTTP_WORKER,
      version: this.parts.version,
      types: [{ type: HTTP_TASK_TYPE }],
      capacity: { slots: SLOTS },
      leaseMs: LEASE_MS,
      ...resumed,
    };
    const sink = new LocalSink((name, data) => this.hear(name, data));
    sink.once('close', () => this.openLater());
    this.parts.gateway
      .attach(this.namespace, body, () => sink)
      .catch(() => {
        // The session is gone, or there are too many: a new one is asked for.
        this.resume = undefined;
        this.openLater();
      });
  }

  /** Requests under way have `timeMs` to end. */
  async close(timeMs: number): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.again);
    const late = setTimeout(() => {
      for (const request of this.running.values()) request.abort();
    }, timeMs);
    await Promise.all(this.ends);
    clearTimeout(late);
    clearInterval(this.beat);
  }

  private openLater(): void {
    clearInterval(this.beat);
    clearTimeout(this.again);
    if (!this.isClosed) this.again = setTimeout(() => this.open(), AGAIN_MS).unref();
  }

  private hear(name: string, data: unknown): void {
    if (name === 'welcome') {
      const { sessionId, heartbeatMs } = data as { sessionId: string; heartbeatMs: number };
      this.session = sessionId;
      this.resume = sessionId;
      this.beat = setInterval(() => this.renew(), heartbeatMs).unref();
    } else if (name === 'tasks') {
      for (const task of data as readonly Pushed[]) this.begin(task);
    } else if (name === 'cancel') {
      this.running.get((data as Pushed).lease)?.abort();
    }
  }

  private begin({ lease, input }: Pushed): void {
    if (this.isClosed || this.running.has(lease)) return;
    const stop = new AbortController();
    this.running.set(lease, stop);
    const end = this.run(input, stop.signal)
      .then((how) => this.report({ lease, ...how }))
      .finally(() => {
        this.running.delete(lease);
        this.ends.delete(end);
      });
    this.ends.add(end);
  }

  private async run(input: unknown, signal: AbortSignal): Promise<Outcome> {
    const startedAt = new Date().toISOString();
    try {
      const asked = stepRequest(input);
      const output = await this.parts.client.send(asked, signal);
      if (asked.isAsync) return { kind: 'later', startedAt };
      if (Buffer.byteLength(JSON.stringify(output)) <= LIMITS.payloadBytesMax) {
        return { kind: 'succeeded', output, startedAt };
      }
      const message = `the answer is more than ${LIMITS.payloadBytesMax} bytes as JSON`;
      throw new RequestFailure('answer_too_large', message, { retryable: false });
    } catch (cause) {
      if (signal.aborted) return { kind: 'cancelled', startedAt };
      const { message } = cause as Error;
      const { code = 'request_failed', retryable = true, retryAfterMs } = cause as RequestFailure;
      const error = { message: message.slice(0, MESSAGE_MAX), code };
      const after = retryAfterMs === undefined ? {} : { retryAfterMs };
      return { kind: 'failed', error, retryable, ...after, startedAt };
    }
  }

  /**
   * A report that is refused for a while is sent again; the lease says whether it still counts. An
   * answer that is never taken, such as one that is nested too deeply, fails the step.
   */
  private async report(report: Report): Promise<void> {
    let sent: object = report;
    for (let n = 0; n < REPORTS_MAX; n++) {
      try {
        await this.parts.gateway.report(this.namespace, this.session, { reports: [sent] });
        return;
      } catch (cause) {
        if (this.isClosed) return;
        if (isForGood(cause)) {
          if (sent !== report) return;
          sent = refused(report, cause);
          continue;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
      }
    }
  }

  /** Renews the session and its leases. */
  private renew(): void {
    const reports = [...this.running.keys()].map((lease) => ({ lease, kind: 'heartbeat' }));
    this.parts.gateway.report(this.namespace, this.session, { reports }).catch(() => undefined);
  }
}

/** How a request ended, with its output or error. */
interface Outcome {
  readonly kind: string;
  readonly startedAt: string;
  readonly [field: string]: unknown;
}

interface Report extends Outcome {
  readonly lease: string;
}

/** Whether the same report would be refused again. */
function isForGood(cause: unknown): cause is SluiceError {
  return cause instanceof SluiceError && FOR_GOOD.includes(cause.code);
}

const FOR_GOOD: readonly string[] = ['invalid_request', 'payload_too_large'];

/** The report that replaces a refused answer. */
function refused({ lease, startedAt }: Report, { message }: SluiceError): object {
  const error = {
    message: `the answer cannot be kept: ${message}`.slice(0, MESSAGE_MAX),
    code: 'answer_not_kept',
  };
  return { lease, kind: 'failed', error, retryable: false, startedAt };
}

/** Tries of one report. After these the lease has long been lost. */
const REPORTS_MAX = 600;
