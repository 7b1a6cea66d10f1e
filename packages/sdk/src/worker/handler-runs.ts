import { fitsRequest, jsonText } from '../base/json-text.ts';
import { RenewedMap } from '../base/renewed-map.ts';
import { isInstance, messageOf, textProperty } from '../base/shown-value.ts';
import type { BlobPort } from '../calls/remote-blobs.ts';
import type { Usage } from '../task/api-types.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import type { AnyTask } from '../task/define-task.ts';
import { HandBack, Later, PermanentFailure, RetryAfter } from '../task/failures.ts';
import type { TaskSubmits } from '../task/task-submits.ts';
import { type Attempt, AttemptContext, type AttemptReports } from './attempt-context.ts';
import { endEvents, startEvent } from './attempt-events.ts';
import type { Ending, HandlerError } from './final-reports.ts';
import type { AbortReason } from './worker-ports.ts';

export interface HandlerRunsOptions {
  readonly blobs: BlobPort;
  /** For the children of tasks. */
  readonly submits: TaskSubmits;
  /** Wall time in milliseconds. */
  readonly now: () => number;
  /** Milliseconds that only increase, for durations. */
  readonly ticks: () => number;
  /** Never throws. */
  readonly onAttempt: (event: AttemptEvent) => void;
  readonly reports: AttemptReports & { finish(lease: string, ending: Ending): void };
  /** A listener of a handler threw; the handler keeps running. */
  readonly onListenerError: (id: string, cause: unknown) => void;
}

/**
 * Runs handlers, and reports how each of them ended.
 *
 * Whatever a handler does, throws or returns ends its own attempt and affects nothing else.
 */
export class HandlerRuns {
  private readonly definitions: ReadonlyMap<string, AnyTask>;
  private readonly options: HandlerRunsOptions;
  private readonly running = new RenewedMap<string, AttemptContext>();

  constructor(definitions: readonly AnyTask[], options: HandlerRunsOptions) {
    this.definitions = new Map(definitions.map((definition) => [definition.type, definition]));
    this.options = options;
  }

  get size(): number {
    return this.running.size;
  }

  /** Slots of the handlers that run. */
  get slots(): number {
    let sum = 0;
    for (const { resources } of this.running.values()) sum += resources.slots ?? 1;
    return sum;
  }

  /** Nothing is reported before this returns. */
  run(task: Attempt): void {
    const { reports, submits, now, ticks, onAttempt } = this.options;
    const context = new AttemptContext(task, {
      reports,
      submits,
      now,
      onListenerError: (cause) => this.options.onListenerError(task.id, cause),
    });
    this.running.set(task.lease, context);
    const startedAt = ticks();
    const end = (ending: Ending, failure: { thrown?: unknown } = {}): void => {
      this.running.delete(task.lease);
      const durationMs = ticks() - startedAt;
      const { aborted } = context;
      const ended = { ending, aborted, durationMs, endedAt: now(), ...failure };
      endEvents(task, ended).forEach(onAttempt);
      reports.finish(task.lease, withUsage(ending, context.used));
    };
    onAttempt(startEvent(task));
    this.call(task, context).then(
      (value) => {
        const ending = endingWith(value);
        if ('large' in ending) void this.upload(ending.large).then((uploaded) => end(uploaded));
        else end(ending);
      },
      (cause: unknown) => end(endingOf(cause, context), { thrown: cause }),
    );
  }

  abort(lease: string, reason: AbortReason): void {
    this.running.get(lease)?.abort(reason);
  }

  signal(lease: string, name: string, data: unknown): void {
    this.running.get(lease)?.hear({ name, data });
  }

  /** Async, so that synchronous and later errors are caught alike. */
  private async call(task: Attempt, context: AttemptContext): Promise<unknown> {
    const definition = this.definitions.get(task.type);
    if (definition?.run === undefined) throw new Error(`no handler for the type '${task.type}'`);
    const { inputBlob } = task;
    if (inputBlob === undefined) return definition.run(task.input as never, context);
    const input = await this.download(inputBlob);
    if (context.aborted !== undefined) throw context.aborted;
    return definition.run(input as never, context);
  }

  /** A task without its input can never run. A server that does not answer now may answer later. */
  private async download(sha256: string): Promise<unknown> {
    try {
      return JSON.parse(await this.options.blobs.get(sha256)) as unknown;
    } catch (cause) {
      const { code = 'input_not_json', message } = cause as { code?: string; message: string };
      const isPermanent = code === 'blob_not_found' || cause instanceof SyntaxError;
      if (!isPermanent) throw cause;
      const why = `cannot read the input, which is the blob ${sha256}: ${message}`;
      throw Object.assign(new PermanentFailure(why, { cause }), { code });
    }
  }

  /** Never rejects: an output that cannot be uploaded fails the attempt. */
  private async upload(output: string): Promise<Ending> {
    try {
      return { kind: 'succeeded', outputBlob: await this.options.blobs.put(output) };
    } catch (cause) {
      const error = errorOf(cause);
      if (error.code !== 'payload_too_large') return { kind: 'failed', error };
      const message = `the output is too large: ${error.message}`;
      return { kind: 'failed', error: { message, code: 'output_too_large' }, retryable: false };
    }
  }
}

/**
 * The ending for a handler's return value. An output that is too big for a report is uploaded
 * first.
 */
function endingWith(value: unknown): Ending | { readonly large: string } {
  if (value === Later) return { kind: 'later' };
  const json = jsonText(value);
  if ('problem' in json) {
    const error = { message: `the output is not JSON: ${json.problem}`, code: 'output_not_json' };
    return { kind: 'failed', error, retryable: false };
  }
  return fitsRequest(json.text) ? { kind: 'succeeded', output: json.text } : { large: json.text };
}

/** A refusal and an end from outside have no usage. */
function withUsage(ending: Ending, usage: Usage | undefined): Ending {
  if (usage === undefined || ending.kind === 'later' || ending.kind === 'refused') return ending;
  return { ...ending, usage };
}

function endingOf(cause: unknown, { aborted }: AttemptContext): Ending {
  // A handler that stopped on request has not failed. A handler that ran too long has failed. A
  // handler whose worker stops may still report that its task must not run again.
  const { type } = aborted ?? {};
  if (type === 'cancelled' || type === 'lease_lost') return { kind: 'cancelled' };
  if (isInstance(cause, HandBack)) return { kind: 'refused' };
  const error = errorOf(cause);
  if (isInstance(cause, PermanentFailure)) return { kind: 'failed', error, retryable: false };
  if (isInstance(cause, RetryAfter)) return { kind: 'failed', error, retryAfterMs: cause.delayMs };
  return { kind: 'failed', error };
}

function errorOf(cause: unknown): HandlerError {
  const message = messageOf(cause);
  if (!isInstance(cause, Error)) return { message };
  const code = textProperty(cause, 'code');
  const stack = textProperty(cause, 'stack');
  return {
    message,
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
  };
}
