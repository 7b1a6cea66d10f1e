import { NO_SLOT } from '../../base/ids.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { BuddyBlocks } from '../../structures/buddy-blocks.ts';
import { testUtf8 } from '../test-utf8.ts';
import { describeRuns, type RunDescription } from './describe-runs.ts';

/** Broken invariants of runs: their counters and lists against a recount. */
export function runProblems(state: ReadonlyState): string[] {
  const runs = describeRuns(state);
  const line = listFrom(state, state.runs.line.head);
  const ended = listFrom(state, state.runs.ended.head);
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  const inUse = sum(runs.map(({ steps }) => BuddyBlocks.sizeFor(steps.length)));
  const endedSteps = sum(runs.filter(isOver).map(({ steps }) => steps.length));
  return [
    ...runs.flatMap((run) => problemsOf(state, run, { line, ended })),
    ...claim(state.runs.table.count === runs.length, 'the number of runs'),
    ...claim(state.runs.steps.inUse === inUse, `${state.runs.steps.inUse} slots, not ${inUse}`),
    ...claim(state.runs.endedSteps === endedSteps, 'the steps of ended runs'),
    ...claim(state.runs.promised === sum(runs.map(({ promised }) => promised)), 'promised tasks'),
    ...claim(
      state.tasks.count + state.runs.promised <= state.limits.tasksMax,
      'every run has room for its tasks',
    ),
  ];
}

/** Bytes of the payloads of runs and steps. */
export function runPayloadBytes(runs: readonly RunDescription[]): number {
  const size = (text: string): number => testUtf8.encode(text).length;
  const payloads = runs.flatMap(({ input, output, variables, steps }) => [
    ...[input, output, variables],
    ...steps.map((step) => step.output),
  ]);
  return payloads.reduce((sum, text) => sum + size(text), 0);
}

function isOver({ state }: RunDescription): boolean {
  return !['running', 'stopping', 'paused'].includes(state);
}

interface Lists {
  readonly line: readonly number[];
  readonly ended: readonly number[];
}

function problemsOf(state: ReadonlyState, run: RunDescription, lists: Lists): string[] {
  const { table, steps, line } = state.runs;
  const of = (...states: string[]) => run.steps.filter((step) => states.includes(step.state));
  const live = of('running', 'stopping', 'reported').length;
  const needs = needsWork(run, live);
  const name = `run ${run.number} (${run.state})`;
  const heads = {
    due: table.dueHead[run.slot],
    running: table.runningHead[run.slot],
    stopping: table.stoppingHead[run.slot],
    reported: table.reportedHead[run.slot],
  };
  const listed = Object.entries(heads).flatMap(([name, head]) => {
    const found: number[] = [];
    for (let step = head; step !== NO_SLOT; step = steps.next[step]) found.push(step - run.base);
    const expected = run.steps.flatMap((step, place) => (step.state === name ? [place] : []));
    return claim(found.toSorted((a, b) => a - b).join() === expected.join(), `its ${name} list`);
  });
  const problems = [
    ...listed,
    ...claim(run.live === live, `${run.live} live steps, not ${live}`),
    ...claim(run.isInLine === needs, `runs.in-line: in line ${run.isInLine}, needs work ${needs}`),
    ...claim(lists.line.includes(run.slot) === run.isInLine, `the line of ${line.length}`),
    ...claim(lists.ended.includes(run.slot) === isOver(run), 'the ended runs'),
    ...claim(!isOver(run) || live === 0, 'an ended run has nothing live'),
  ];
  return problems.map((problem) => `${name}: ${problem}`);
}

function needsWork(run: RunDescription, live: number): boolean {
  const has = (state: string): boolean => run.steps.some((step) => step.state === state);
  if (isOver(run)) return false;
  if (has('reported') || live === 0) return true;
  return run.state === 'running' ? has('due') : has('running');
}

function listFrom({ runs }: ReadonlyState, head: number): number[] {
  const slots: number[] = [];
  for (let run = head; run !== NO_SLOT; run = runs.table.next[run]) slots.push(run);
  return slots;
}

function claim(holds: boolean, problem: string): string[] {
  return holds ? [] : [problem];
}
