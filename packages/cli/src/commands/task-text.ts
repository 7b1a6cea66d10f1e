import type { Task } from '../api/answers.ts';
import { type Styles, stateText } from '../screen/styles.ts';
import { ago, short, table } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';
import { execRows } from './exec-text.ts';

/** How texts are shown. */
interface Shown {
  readonly styles: Styles;
  /** Undefined without a terminal: then nothing is cut. */
  readonly columns?: number | undefined;
  readonly now?: number;
}

const NAME_COLUMNS = 13;

/** Maximum number of attempts that are shown. */
const ATTEMPTS_MAX = 10;

/** A task as text for users, one fact per line. */
export function taskText(task: Task, { styles, columns, now = Date.now() }: Shown): string {
  const { id, type, state, reason, priority, attempt, progress } = task;
  const rows: (readonly [string, string])[] = [
    ['task', `${styles.bold(visible(id))} (${visible(type)})`],
    [
      'state',
      `${stateText(visible(state), styles)}${reason === state ? '' : ` (${visible(reason)})`}`,
    ],
    ['priority', String(priority)],
    ...tagRows(task),
    ['submitted', `${task.submittedAt} (${ago(task.submittedAt, now)} ago)`],
  ];
  if (task.runAt !== null) rows.push(['runs at', task.runAt]);
  if (attempt > 0) {
    const newest = task.attempts.at(-1);
    rows.push([
      'attempt',
      `${attempt}${newest === undefined ? '' : ` on ${visible(newest.worker)}`}`,
    ]);
  }
  if (progress !== null) rows.push(['progress', progressText(progress)]);
  if (task.cancelRequestedAt !== null) rows.push(['cancel asked', task.cancelRequestedAt]);
  if (task.endedAt !== null)
    rows.push(['ended', `${task.endedAt} (${ago(task.endedAt, now)} ago)`]);
  rows.push(...execRows(task));
  rows.push(['input', payloadText(task.input, task.inputBlob, 500)]);
  const problem = problemText(task);
  if (problem !== '') rows.push(['error', styles.red(problem)]);
  if (state === 'succeeded') rows.push(['output', payloadText(task.output, task.outputBlob, 500)]);
  rows.push(...attemptRows(task, { styles, columns }));
  return rows.map(([name, value]) => `${styles.dim(name.padEnd(NAME_COLUMNS))}${value}`).join('\n');
}

/** Every attempt that did not succeed, oldest first: its number, when it ended, where and why. */
function attemptRows(
  { attempts }: Task,
  { styles, columns }: Shown,
): (readonly [string, string])[] {
  const over = attempts.filter(
    ({ endedAt, outcome }) => endedAt !== null && outcome !== 'succeeded',
  );
  const lines = over.slice(-ATTEMPTS_MAX).map(({ attempt, endedAt, worker, outcome, error }) => {
    const start = visible(`#${attempt}  ${endedAt}  ${worker}  `);
    const why = problemText({ error: error ?? null, reason: outcome ?? '' }) || (outcome ?? '');
    const width = columns === undefined ? Number.POSITIVE_INFINITY : columns - NAME_COLUMNS;
    return start + styles.red(short(why, Math.max(ERROR_COLUMNS_MIN, width - start.length)));
  });
  const earlier = over.length - lines.length;
  if (earlier > 0) lines.unshift(`${earlier} earlier ones, which --json shows`);
  return lines.map((line, place) => [place === 0 ? 'failures' : '', line]);
}

const ERROR_COLUMNS_MIN = 30;

/** Shows the name of a payload that is too big to be shown. */
export function payloadText(payload: unknown, blob: string | undefined, columns: number): string {
  return blob === undefined ? short(payload, columns) : short(`blob ${blob}`, columns);
}

export function errorText({ message, code }: NonNullable<Task['error']>): string {
  return visible(code === undefined ? message : `${message} (${code})`);
}

export function progressText({ fraction, message }: NonNullable<Task['progress']>): string {
  return visible(`${Math.round(fraction * 100)} % ${message}`.trimEnd());
}

function tagRows({ tags }: Task): (readonly [string, string])[] {
  const texts = Object.entries(tags).map(([name, value]) => visible(`${name}=${value}`));
  return texts.length === 0 ? [] : [['tags', texts.join(' ')]];
}

/** What an attempt without an error is shown with, by its reason. */
const WITHOUT_ERROR: Readonly<Record<string, string>> = {
  worker_lost: 'its worker was lost',
  run_timeout: 'it ran longer than runMs',
  heartbeat_timeout: 'its handler was silent longer than heartbeatMs',
  total_timeout: 'it took longer than totalMs',
  queue_timeout: 'it was queued longer than queueMs',
};

/** What went wrong last. A worker that was lost, and a timeout, leave no error. */
export function problemText({ error, reason }: Pick<Task, 'error' | 'reason'>): string {
  return error === null ? (WITHOUT_ERROR[reason] ?? '') : errorText(error);
}

/** The problems have a column if there are any. */
export function taskTable(tasks: readonly Task[], columns?: number, now = Date.now()): string {
  const hasProblems = tasks.some((task) => problemText(task) !== '');
  const head = ['ID', 'TYPE', 'STATE', 'REASON', 'PRIO', 'ATTEMPT', 'AGE', 'INPUT'];
  return table(
    hasProblems ? [...head, 'ERROR'] : head,
    tasks.map((task) => {
      const { id, type, state, reason, priority, attempt, submittedAt, input, inputBlob } = task;
      const age = ago(submittedAt, now);
      const text = payloadText(input, inputBlob, PAYLOAD_COLUMNS_MAX);
      const row = [id, type, state, reason, priority, attempt, age, text];
      return hasProblems ? [...row, problemText(task)] : row;
    }),
    columns,
  );
}

/** The error comes last and matters more. */
const PAYLOAD_COLUMNS_MAX = 60;
