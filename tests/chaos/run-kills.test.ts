import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { expectedOutput, type StartedRun, TASK_STEPS } from './run-load.ts';
import { judgeRuns } from './run-verdict.ts';

const PROGRAM = fileURLToPath(new URL('./run-kill-rounds.ts', import.meta.url));

async function killRounds(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args]);
  return stdout;
}

test('2,000 runs with forks and runs below end as they should through 5 kills', async () => {
  const printed = await killRounds('--runs', '2400', '--at-once', '2100');

  expect(printed).toContain('2400 runs ended');
  expect(printed).toContain('\n0 violations\n');
  const inFlight = [...printed.matchAll(/^kill \d: (\d+) runs in flight/gm)].map(
    (kill) => +kill[1],
  );
  expect(inFlight).toHaveLength(5);
  expect(Math.max(...inFlight)).toBeGreaterThanOrEqual(2000);
  // Kills without runs in flight would prove nothing.
  expect(Math.min(...inFlight)).toBeGreaterThan(0);
});

test('so they do when the killed servers start from snapshots', async () => {
  const printed = await killRounds('--runs', '200', '--kills', '3', '--fold-kib', '64');

  expect(printed).toContain('200 runs ended');
  expect(printed).toContain('\n0 violations\n');
  expect(printed).toMatch(/^[1-9]\d* snapshots$/m);
});

/** A run that ended well, and how often its handlers ran. */
function goodRun(): { run: StartedRun; handlerRuns: Map<string, number> } {
  const steps = TASK_STEPS.map((reference) => {
    return {
      reference,
      state: 'succeeded',
      attempt: 1,
      taskId: `t_${reference}`,
      childRunId: null,
    };
  });
  const answer = { id: 'r_1', status: 'succeeded', output: expectedOutput(3), steps };
  const handlerRuns = new Map(steps.map(({ taskId }) => [taskId, 1]));
  return { run: { n: 3, id: 'r_1', answer }, handlerRuns };
}

test('a verdict finds nothing wrong with a run that ended well', () => {
  const { run, handlerRuns } = goodRun();

  expect(judgeRuns([run], handlerRuns)).toEqual([]);
});

test('a verdict names a run that never ended, one with a wrong output and a wrong status', () => {
  const { run, handlerRuns } = goodRun();
  const wrong = { ...goodRun().run.answer, status: 'failed', output: 7 } as StartedRun['answer'];

  expect(judgeRuns([{ ...run, answer: undefined }], new Map())).toEqual([
    'run 3 (r_1) has not ended',
  ]);
  expect(judgeRuns([{ ...run, answer: wrong }], handlerRuns)).toEqual([
    'run 3 (r_1) is failed',
    'run 3 (r_1) has the output 7',
  ]);
});

test('a verdict names handlers that ran twice, never, or for nobody', () => {
  const { run, handlerRuns } = goodRun();
  handlerRuns.set('t_left', 2).set('t_nobody', 1).delete('t_last');

  expect(judgeRuns([run], handlerRuns)).toEqual([
    'run 3 (r_1) ran the handler of left 2 times',
    'run 3 (r_1) ran the handler of last 0 times',
    'task t_nobody ran and belongs to no acknowledged run',
  ]);
});
