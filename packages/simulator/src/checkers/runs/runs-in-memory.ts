import type { ReadonlyState } from '@sluice/core';
import { describeRuns } from '@sluice/core/testing/runs/describe-runs';
import type { RunStory } from './run-story.ts';

/** Where memory and the log disagree. The caller knows that all of memory is durable. */
export function runsInMemory(state: ReadonlyState, told: readonly RunStory[]): string[] {
  const inMemory = new Map(describeRuns(state).map((run) => [run.number, run]));
  const problems: string[] = [];
  if (inMemory.size !== told.length) {
    problems.push(`${inMemory.size} runs are in memory, and ${told.length} in the log`);
  }
  for (const run of told) {
    const memory = inMemory.get(run.number);
    if (memory?.state !== run.state || memory.program !== run.program) {
      problems.push(`run ${run.number} is ${memory?.state} in memory, and ${run.state} in the log`);
      continue;
    }
    const entered = memory.steps.filter((step) => {
      const { state: at, iteration } = step;
      // One that waits for values in blobs has not begun.
      const isAsking = step.isEvaluating && step.startedAt === 0 && iteration === 0;
      if (at === 'running' && isAsking) return false;
      // A loop whose body is over is due again.
      return at !== 'pending' && (at !== 'due' || iteration > 0);
    });
    if (entered.length !== run.steps.size) {
      const inLog = `${run.steps.size} in the log`;
      problems.push(`run ${run.number} has ${entered.length} steps in memory, ${inLog}`);
    }
  }
  return problems;
}
