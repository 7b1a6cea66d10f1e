import {
  type Event,
  nameOfAnswer,
  type PayloadRange,
  REASONS,
  readEvents,
  SUCCEEDED,
} from '@sluice/core';
import type { AttemptView, TaskError } from '../../task/task-view.ts';
import { UTF8 } from './payloads.ts';

/** Maximum number kept per task, as by a server. */
const ATTEMPTS_KEPT = 100;

type Attempt = { -readonly [Name in keyof AttemptView]: AttemptView[Name] };

/** What is known of the attempts of a task. */
interface Known {
  attempt: number;
  readonly attempts: Attempt[];
}

/**
 * Every attempt of each task, read from the events of the core as the server's projection does. The
 * core keeps only the newest attempt.
 */
export class AttemptHistory {
  private readonly tasks = new Map<number, Known>();

  /** Must be called with every batch. */
  read(batch: Uint8Array): void {
    readEvents(batch, UTF8, (event, at) => {
      if (event.task !== 0) this.apply(event, timeText(at));
    });
  }

  /** The attempts of a task before `newest`, followed by it. */
  withEarlier(task: number, newest: readonly AttemptView[]): AttemptView[] {
    const attempts = this.tasks.get(task)?.attempts ?? [];
    return [...(newest.length === 0 ? attempts : attempts.slice(0, -1)), ...newest];
  }

  private apply(event: Event, at: string): void {
    if (event.type === 'attempt_leased') return this.lease(event.task, event.worker, at);
    const known = this.tasks.get(event.task);
    if (known === undefined) return;
    if (event.type === 'task_retried') known.attempt = 0;
    else if (event.type === 'attempt_returned' && !event.spent) {
      known.attempt -= 1;
      known.attempts.pop();
    } else endAttempt(known.attempts.at(-1), event, at);
  }

  private lease(task: number, worker: string, leasedAt: string): void {
    const known = this.tasks.get(task) ?? { attempt: 0, attempts: [] };
    this.tasks.set(task, known);
    known.attempt += 1;
    const { attempt, attempts } = known;
    const open = { startedAt: null, endedAt: null, outcome: null };
    attempts.push({ attempt, worker, leasedAt, ...open });
    if (attempts.length > ATTEMPTS_KEPT) attempts.shift();
  }
}

/** Notes the start or the end that the event says. An attempt that is over stays as it is. */
function endAttempt(attempt: Attempt | undefined, event: Event, at: string): void {
  if (attempt === undefined || attempt.endedAt !== null) return;
  if (event.type === 'attempt_started') attempt.startedAt = at;
  const outcome = outcomeBy(event);
  if (outcome === undefined) return;
  if ('startedAt' in event && event.startedAt !== 0) {
    attempt.startedAt ??= timeText(event.startedAt);
  }
  attempt.endedAt = at;
  attempt.outcome = outcome;
  if (event.type === 'attempt_failed' || event.type === 'attempt_timed_out') {
    if (nameOfAnswer(event.answer) === 'failed') attempt.error = valueIn(event.error) as TaskError;
  } else if (event.type === 'task_ended' && event.hasPayload) {
    const value = valueIn(event.payload);
    if (outcome === 'failed') attempt.error = value as TaskError;
    if (outcome === 'succeeded' && event.state !== SUCCEEDED) attempt.output = value;
  }
}

function outcomeBy(event: Event): string | undefined {
  switch (event.type) {
    case 'attempt_succeeded':
      return 'succeeded';
    case 'attempt_deferred':
      return 'later';
    case 'attempt_failed':
      return nameOfAnswer(event.answer);
    case 'attempt_timed_out':
    case 'attempt_returned':
    case 'attempts_exhausted':
      return REASONS[event.reason];
    case 'task_ended':
      return nameOfAnswer(event.answer) || REASONS[event.reason];
    default:
      return undefined;
  }
}

function valueIn({ bytes, start, end }: PayloadRange): unknown {
  return start === end ? null : JSON.parse(UTF8.decode(bytes.subarray(start, end)));
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
