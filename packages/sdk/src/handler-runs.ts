import { type Attempt, AttemptContext, type AttemptReports } from './attempt-context.ts';
import type { AnyTask } from './define-task.ts';
import { Later, PermanentFailure, RetryAfter } from './failures.ts';
import type { Ending, HandlerError } from './final-reports.ts';
import type { AbortReason } from './worker-ports.ts';

export interface HandlerRunsOptions {
  readonly reports: AttemptReports & { finish(lease: string, ending: Ending): void };
  /** A listener for signals threw something; the handler runs on. */
  readonly onListenerError: (id: string, cause: unknown) => void;
}

/**
 * Runs handlers, and says how each of them ended.
 *
 * Whatever a handler does, throws or returns is an end of its own attempt and of nothing else.
 */
export class HandlerRuns {
  private readonly definitions: ReadonlyMap<string, AnyTask>;
  private readonly options: HandlerRunsOptions;
  private readonly running = new Map<string, AttemptContext>();

  constructor(definitions: readonly AnyTask[], options: HandlerRunsOptions) {
    this.definitions = new Map(definitions.map((definition) => [definition.type, definition]));
    this.options = options;
  }

  get size(): number {
    return this.running.size;
  }

  /** Nothing is reported before this returns. */
  run(task: Attempt): void {
    const { reports, onListenerError } = this.options;
    const context = new AttemptContext(task, reports, (cause) => onListenerError(task.id, cause));
    this.running.set(task.lease, context);
    const end = (ending: Ending): void => {
      this.running.delete(task.lease);
      reports.finish(task.lease, ending);
    };
    this.call(task, context).then(
      (value) => end(value === Later ? { kind: 'later' } : { kind: 'succeeded', output: value }),
      (cause: unknown) => end(endingOf(cause, context)),
    );
  }

  abort(lease: string, reason: AbortReason): void {
    this.running.get(lease)?.abort(reason);
  }

  signal(lease: string, name: string, data: unknown): void {
    this.running.get(lease)?.hear({ name, data });
  }

  /** Asynchronous, so that what is thrown at once is caught like what is thrown later. */
  private async call(task: Attempt, context: AttemptContext): Promise<unknown> {
    const definition = this.definitions.get(task.type);
    if (definition?.run === undefined) throw new Error(`no handler for the type '${task.type}'`);
    if (task.inputBlob !== undefined) {
      throw new PermanentFailure(`the input is a blob, which is not fetched: ${task.inputBlob}`);
    }
    return definition.run(task.input as never, context);
  }
}

function endingOf(cause: unknown, { aborted }: AttemptContext): Ending {
  // Whoever was asked to stop and did so has not failed. Too late is a failure that may be retried.
  if (aborted !== undefined && aborted.type !== 'timed_out') return { kind: 'cancelled' };
  const error = errorOf(cause);
  if (cause instanceof PermanentFailure) return { kind: 'failed', error, retryable: false };
  if (cause instanceof RetryAfter) return { kind: 'failed', error, retryAfterMs: cause.delayMs };
  return { kind: 'failed', error };
}

/** Handlers throw all kinds of things, also such that throw when one looks at them. */
function errorOf(cause: unknown): HandlerError {
  try {
    if (!(cause instanceof Error)) return { message: String(cause) };
    const { message, stack, code } = cause as Error & { code?: unknown };
    return {
      message: message || cause.name,
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof stack === 'string' ? { stack } : {}),
    };
  } catch {
    return { message: 'the handler threw something that cannot be shown' };
  }
}
