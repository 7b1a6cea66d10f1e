/** What a worker writes to stderr, one line each. */
import { isInstance, messageOf, textProperty } from '../base/shown-value.ts';
import { visibleText } from '../base/visible-text.ts';
import type { AttemptEvent } from '../task/attempt-event.ts';
import type { WorkerNotice } from './worker.ts';

/** A longer error message is cut. */
const MESSAGE_CHARACTERS_MAX = 300;

/** Calls a function of the user. What it throws, at once or later, must not reach the worker. */
export function guarded<T>(name: string, call: (given: T) => unknown): (given: T) => void {
  return (given) => {
    new Promise((resolve) => resolve(call(given))).catch((cause: unknown) => {
      console.error(`sluice: ${name} failed: ${stackOf(cause)}`);
    });
  };
}

/**
 * Writes one line for each reason why the server is unreachable, however often it is tried, and one
 * when it is reachable again.
 */
export function writeTrouble(addresses: readonly string[]): (notice: WorkerNotice) => void {
  const said = new Set<string>();
  return (notice) => {
    if (notice.type === 'connected') {
      if (said.size > 0) console.error(`sluice: connected to ${notice.address}`);
      said.clear();
    } else if (notice.type === 'disconnected') {
      if (!said.has(notice.why)) {
        const where = addresses.join(', ');
        console.error(`sluice: no connection to ${where} (${notice.why}); trying again`);
      }
      said.add(notice.why);
    } else if (notice.type === 'report_refused') {
      console.error(`sluice: the server refused a report: ${notice.why}`);
    } else if (notice.type === 'definition_differs') {
      console.error(
        `sluice: the definition of '${notice.taskType}' differs from the registered one in ` +
          `${notice.fields.join(', ')}; register it again, or change it`,
      );
    } else {
      console.error(`sluice: a listener of ${notice.taskId} failed: ${stackOf(notice.cause)}`);
    }
  };
}

export function writeFailure(event: AttemptEvent): void {
  const line = failureLine(event);
  if (line !== undefined) console.error(line);
}

/** One line for a failed attempt. It never has the input, and nothing that controls a terminal. */
export function failureLine(event: AttemptEvent): string | undefined {
  if (event.type !== 'failed') return undefined;
  const { taskId, taskType, attempt, error, durationMs, willRetry, retryAt } = event;
  const next = retryAt === undefined ? 'will be retried' : `next attempt ${retryAt.toISOString()}`;
  const message = visibleText(messageOf(error), MESSAGE_CHARACTERS_MAX);
  return (
    `sluice: task ${taskId} (${taskType}) failed at attempt ${attempt} after ` +
    `${Math.round(durationMs)} ms: ${message} (${willRetry ? next : 'no retry'})`
  );
}

/** As text: the console would inspect the value, which may throw. */
function stackOf(cause: unknown): string {
  const stack = isInstance(cause, Error) ? textProperty(cause, 'stack') : undefined;
  return stack ?? messageOf(cause);
}
