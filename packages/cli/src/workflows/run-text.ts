import type { Run, RunEntry } from '../api/answers.ts';
import { type Styles, stateText } from '../screen/styles.ts';
import { ago, duration, table } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';
import { runTree } from './run-tree.ts';
import { isOver } from './wait-for-run.ts';

export function runTable(runs: readonly RunEntry[], columns?: number, now = Date.now()): string {
  const hasErrors = runs.some(({ error }) => error !== null);
  const head = ['ID', 'WORKFLOW', 'VERSION', 'STATUS', 'STEPS', 'AGE', 'CORRELATION'];
  return table(
    hasErrors ? [...head, 'ERROR'] : head,
    runs.map(({ id, workflow, version, status, counts, startedAt, correlationId, error }) => {
      const { pending = 0, running = 0, skipped = 0 } = counts;
      const sum = Object.values(counts).reduce((each, count) => each + count, 0);
      // A run that succeeded needed no more.
      const all = status === 'succeeded' ? sum - skipped : sum;
      const done = sum - pending - running - skipped;
      const age = ago(startedAt, now);
      const which = version === null ? 'inline' : String(version);
      const row = [id, workflow, which, status, `${done}/${all}`, age, correlationId ?? ''];
      return hasErrors ? [...row, error?.message ?? ''] : row;
    }),
    columns,
  );
}

interface Options {
  readonly styles: Styles;
  readonly now?: number;
  readonly definition?: object | undefined;
}

/** A run with its steps, and what it waits for. */
export function runText(run: Run, { styles, now = Date.now(), definition }: Options): string {
  const { id, workflow, version, status, startedAt, endedAt, error } = run;
  const { correlationId, parent } = run;
  const until = endedAt === null ? now : Date.parse(endedAt);
  const took = startedAt === null ? '' : duration(Math.max(0, until - Date.parse(startedAt)));
  const which = version === null ? 'inline' : `version ${version}`;
  const ending = run.endingAs === undefined ? '' : `, ending as ${run.endingAs}`;
  const lines = [
    `${styles.bold(id)}  ${visible(workflow)} (${which})  ${stateText(status, styles)}${ending}  ${took}`,
    ...(correlationId === null ? [] : [`correlation  ${visible(correlationId)}`]),
    ...(!parent ? [] : [`started by  ${parent.runId}${stepOf(parent.step)}`]),
    ...(error === null ? [] : [`error  ${visible(error.message)} (${error.code})`]),
    ...(error?.failureRunId === undefined ? [] : [`failure run  ${error.failureRunId}`]),
    ...(error?.failureProblem === undefined ? [] : [visible(error.failureProblem)]),
    '',
    ...runTree(run, { styles, now, definition }),
    ...(run.stepsCursor === null ? [] : ['   … more steps; --json and the API show them']),
    ...waitsFor(run),
  ];
  if (status === 'succeeded' && run.output !== undefined) {
    lines.push('', `output  ${visible(JSON.stringify(run.output))}`);
  }
  return lines.join('\n');
}

function stepOf(reference: string | null): string {
  return reference === null ? '' : ` (step ${visible(reference)})`;
}

/** What steps without a task wait for. */
const WAITS: Readonly<Record<string, string>> = {
  WAIT: ' (a time or a call)',
  HUMAN: " (a person: 'sluice run complete')",
  INLINE: ' (a script)',
  JSON_JQ_TRANSFORM: ' (a query)',
  EVENT: " (a call: 'sluice run complete')",
};

function waitsFor(run: Run): string[] {
  const running = run.steps.filter(({ state, type }) => state === 'running' && type !== 'DO_WHILE');
  if (isOver(run) || running.length === 0) return [];
  const [first, ...others] = running;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const { taskId, childRunId } = first;
  const held = !childRunId ? taskId && ` (task ${taskId})` : ` (run ${childRunId})`;
  const what = WAITS[first.type] ?? held ?? '';
  const hint = `'sluice run explain ${run.id}' says why`;
  return ['', `waits for ${visible(first.reference)}${what}${more}; ${hint}`];
}
