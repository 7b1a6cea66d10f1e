import type { SendProblem } from '../base/ports.ts';
import type { TaskView } from '../task/task-view.ts';
import type { RunView } from '../workflow/run-view.ts';
import { type ErrorDetail, problemText, type Refusal } from './http-answers.ts';

/** Number of problems that a message quotes. */
const DETAILS_SHOWN = 3;

/**
 * A call was refused, or no server answered it.
 *
 * `code` is one of the server's (docs/errors has a page for each), or one that the SDK adds:
 * `no_answer` when no server answered in time, `untrusted_certificate` when the program does not
 * trust the server's certificate, `wait_timeout` when a task or run did not end in time,
 * `output_not_json` when its output is an uploaded blob that is not JSON, `insecure_page` when the
 * browser does not allow hashing on the page, and `closed` when the client was closed meanwhile.
 */
export class SluiceError extends Error {
  override readonly name: string = 'SluiceError';
  readonly code: string;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly details: readonly ErrorDetail[];

  constructor(
    code: string,
    message: string,
    { status = 0, details = [] }: { status?: number; details?: readonly ErrorDetail[] } = {},
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

/** A task ended without success. */
export class TaskFailed extends Error {
  override readonly name: string = 'TaskFailed';
  /** Id of the task. */
  readonly id: string;
  readonly state: TaskView['state'];
  /** The error of the last attempt, if it failed. */
  readonly error: TaskView['error'];
  /** The whole task. */
  readonly task: TaskView;

  constructor(task: TaskView) {
    const why = task.error?.message ?? task.reason;
    super(`task ${task.id} (${task.type}) ended as ${task.state}: ${why}`);
    this.id = task.id;
    this.state = task.state;
    this.error = task.error;
    this.task = task;
  }
}

/** A run of a workflow ended without success. */
export class RunFailed extends Error {
  override readonly name: string = 'RunFailed';
  /** Id of the run. */
  readonly id: string;
  readonly status: RunView['status'];
  /** Name of the step that decided it; undefined when no step did, as after a cancel. */
  readonly step: string | undefined;
  /** The error of that step's last attempt, if it failed. */
  readonly error: TaskView['error'];
  /** The whole run. */
  readonly run: RunView;

  constructor(run: RunView) {
    const step = run.steps.find(({ reference }) => reference === run.error?.step);
    const why = step?.error?.message ?? run.error?.message ?? run.reason;
    const where = run.error?.step === undefined ? '' : `step ${run.error.step}: `;
    super(`run ${run.id} (${run.workflow}) ended as ${run.status}: ${where}${why}`);
    this.id = run.id;
    this.status = run.status;
    this.step = run.error?.step;
    this.error = step?.error ?? null;
    this.run = run;
  }
}

/** The message names each of the first problems once. */
export function errorOf({ status, code, message, details }: Refusal): SluiceError {
  const start = details.length > 1 ? message.replace(MORE, '') : message;
  const others = details.map(problemText).filter((text) => !start.includes(text));
  const more = others.length > DETAILS_SHOWN ? ', …' : '';
  const list = others.length === 0 ? '' : ` (${others.slice(0, DETAILS_SHOWN).join(', ')}${more})`;
  return new SluiceError(code || `status_${status}`, `${start}${list}`, { status, details });
}

/** The server's word for the problems that its message does not name. */
const MORE = / \(and \d+ more\)$/;

export function closedError(): SluiceError {
  return new SluiceError('closed', 'the client was closed');
}

/** Code of an error about a server whose certificate is not trusted. */
export const UNTRUSTED = 'untrusted_certificate';

/** The call may have had its effect or not. */
export function noAnswer(addresses: readonly string[], problem?: SendProblem): SluiceError {
  const where = addresses.join(', ');
  if (problem?.isUntrusted) return new SluiceError(UNTRUSTED, `${where}: ${problem.why}`);
  const why = problem === undefined ? '' : ` (${problem.why})`;
  return new SluiceError('no_answer', `no answer in time from ${where}${why}; is a server there?`);
}
