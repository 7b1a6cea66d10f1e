import { PRIORITY_LEVELS, parseConstraint, type TaskSpec } from '@sluice/core';
import type { TaskBody } from '../define-task.ts';
import type { ErrorDetail } from '../http-answers.ts';
import { SluiceError } from '../sluice-error.ts';

/** Tasks as the core takes them. The most common mistakes are refused, in a server's words. */
export function taskSpecs(bodies: readonly TaskBody[], first: number): TaskSpec[] {
  const details = bodies.flatMap((body, index) => problemsOf(body, `/${first + index}`));
  if (details.length > 0) {
    const [{ path, problem }] = details;
    const message = `the tasks are not valid (${path} ${problem})`;
    throw new SluiceError('invalid_request', message, { status: 400, details });
  }
  return bodies.map(({ input: _, dedupeKey: __, dedupeWindowMs: ___, runAt, ...spec }) => {
    return runAt === undefined ? spec : { ...spec, runAt: new Date(runAt).getTime() };
  });
}

function problemsOf(body: TaskBody, path: string): ErrorDetail[] {
  const { priority = 0, runAt = 0, delayMs, constraints = [] } = body;
  const problems: ErrorDetail[] = [];
  if (!Number.isInteger(priority) || priority < 0 || priority >= PRIORITY_LEVELS) {
    problems.push({ path: `${path}/priority`, problem: 'must be a whole number from 0 to 8' });
  }
  if (Number.isNaN(new Date(runAt).getTime())) {
    problems.push({ path: `${path}/runAt`, problem: 'is no time' });
  }
  if (body.runAt !== undefined && delayMs !== undefined) {
    problems.push({ path: `${path}/delayMs`, problem: 'cannot be given beside runAt' });
  }
  constraints.forEach((text, index) => {
    const parsed = parseConstraint(text);
    if (typeof parsed !== 'string') return;
    problems.push({ path: `${path}/constraints/${index}`, problem: parsed });
  });
  return problems;
}
