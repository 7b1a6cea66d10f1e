import type { Task } from '../api/answers.ts';
import { type Styles, stateText } from '../screen/styles.ts';
import { ago, short, table } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';

/** A task as text for users, one fact per line. */
export function taskText(task: Task, styles: Styles, now: number): string {
  const { id, type, state, reason, priority, attempt, progress } = task;
  const rows: (readonly [string, string])[] = [
    ['task', `${styles.bold(visible(id))} (${visible(type)})`],
    [
      'state',
      `${stateText(visible(state), styles)}${reason === state ? '' : ` (${visible(reason)})`}`,
    ],
    ['priority', String(priority)],
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
  rows.push(['input', payloadText(task.input, task.inputBlob, 500)]);
  if (task.error !== null) rows.push(['error', styles.red(errorText(task.error))]);
  if (state === 'succeeded') rows.push(['output', payloadText(task.output, task.outputBlob, 500)]);
  return rows.map(([name, value]) => `${styles.dim(name.padEnd(13))}${value}`).join('\n');
}

/** Shows the name of a payload that is too big to be shown. */
function payloadText(payload: unknown, blob: string | undefined, columns: number): string {
  return blob === undefined ? short(payload, columns) : short(`blob ${blob}`, columns);
}

export function errorText({ message, code }: NonNullable<Task['error']>): string {
  return visible(code === undefined ? message : `${message} (${code})`);
}

export function progressText({ fraction, message }: NonNullable<Task['progress']>): string {
  return visible(`${Math.round(fraction * 100)} % ${message}`.trimEnd());
}

export function taskTable(tasks: readonly Task[], now: number): string {
  const head = ['ID', 'TYPE', 'STATE', 'REASON', 'PRIO', 'ATTEMPT', 'AGE', 'INPUT'];
  return table(
    head,
    tasks.map(({ id, type, state, reason, priority, attempt, submittedAt, input, inputBlob }) => [
      id,
      type,
      state,
      reason,
      priority,
      attempt,
      ago(submittedAt, now),
      payloadText(input, inputBlob, 40),
    ]),
  );
}
