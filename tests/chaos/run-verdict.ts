import { isDeepStrictEqual } from 'node:util';
import { expectedOutput, type StartedRun, TASK_STEPS } from './run-load.ts';

/** What went wrong: empty when every acknowledged run ended as it should, each task run once. */
export function judgeRuns(
  runs: readonly StartedRun[],
  handlerRuns: ReadonlyMap<string, number>,
): string[] {
  const problems: string[] = [];
  const tasks = new Set<string>();
  for (const { n, id, answer } of runs) {
    const say = (problem: string): void => void problems.push(`run ${n} (${id}) ${problem}`);
    if (answer === undefined) {
      say('has not ended');
      continue;
    }
    if (answer.status !== 'succeeded') say(`is ${answer.status}`);
    if (!isDeepStrictEqual(answer.output, expectedOutput(n))) {
      say(`has the output ${JSON.stringify(answer.output)}`);
    }
    for (const reference of TASK_STEPS) {
      const step = answer.steps.find((each) => each.reference === reference);
      const task = step?.taskId ?? '';
      if (tasks.has(task)) say(`shares the task of ${reference} with another step`);
      tasks.add(task);
      if (step?.state !== 'succeeded') say(`has ${reference} as ${step?.state}`);
      if (step?.attempt !== 1) say(`needed ${step?.attempt} attempts for ${reference}`);
      const times = handlerRuns.get(task) ?? 0;
      if (times !== 1) say(`ran the handler of ${reference} ${times} times`);
    }
  }
  const ids = new Set(runs.map(({ id }) => id));
  if (ids.size !== runs.length) problems.push('two starts with different keys gave the same run');
  for (const task of handlerRuns.keys()) {
    if (!tasks.has(task)) problems.push(`task ${task} ran and belongs to no acknowledged run`);
  }
  return problems;
}
