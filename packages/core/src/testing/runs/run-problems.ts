import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { framesOf } from '../../state/runs/run-frames.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { BuddyBlocks } from '../../structures/buddy-blocks.ts';
import { testUtf8 } from '../test-utf8.ts';
import { describeRuns, type RunDescription, type StepDescription } from './describe-runs.ts';

/** Broken invariants of runs: their counters and lists against a recount. */
export function runProblems(state: ReadonlyState): string[] {
  const runs = describeRuns(state);
  const line = listFrom(state, state.runs.line.head);
  const ended = listFrom(state, state.runs.ended.head);
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  const inUse = sum(runs.map((run) => slotsOf(state, run)));
  const endedSteps = sum(runs.filter(isOver).map(({ steps }) => steps.length));
  return [
    ...runs.flatMap((run) => problemsOf(state, run, { line, ended })),
    ...childProblems(runs),
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
    ...steps.flatMap((step) => [step.output, step.input]),
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
    for (let step = head; step !== NO_SLOT; step = steps.next[step]) found.push(step);
    const expected = run.steps.flatMap((step) => (step.state === name ? [step.slot] : []));
    return claim(sorted(found) === sorted(expected), `its ${name} list`);
  });
  const problems = [
    ...listed,
    ...run.steps.flatMap((step) => stepProblems(run, step)),
    ...claim(run.size === run.steps.length, `${run.size} steps, not ${run.steps.length}`),
    ...claim(run.promised <= state.limits.tasksMax, `${run.promised} tasks are promised`),
    ...claim(run.until === 0 || isGoingOn(run), 'a timer of a run that is decided'),
    ...claim(run.live === live, `${run.live} live steps, not ${live}`),
    ...claim(run.isInLine === needs, `runs.in-line: in line ${run.isInLine}, needs work ${needs}`),
    ...claim(lists.line.includes(run.slot) === run.isInLine, `the line of ${line.length}`),
    ...claim(lists.ended.includes(run.slot) === isOver(run), 'the ended runs'),
    ...claim(!isOver(run) || live === 0, 'an ended run has nothing live'),
    ...claim(run.evaluation === 0 || isGoingOn(run), 'a decided run waits for values'),
  ];
  return problems.map((problem) => `${name}: ${problem}`);
}

/**
 * A step that waits for a run, and a run that a step waits for, name each other. A run that was
 * revived may go on alone: then the step has ended, or has another run.
 */
function childProblems(runs: readonly RunDescription[]): string[] {
  const byNumber = new Map(runs.map((run) => [run.number, run]));
  const awaited = runs.flatMap((run) => {
    if (run.parentStep === 0 || isOver(run)) return [];
    const parent = byNumber.get(run.parent);
    const step = parent?.steps.find(({ slot }) => slot === run.parentStep - 1);
    const isAlone = step?.child !== run.number || isStepOver(step);
    const isKnown = isAlone || ['running', 'stopping'].includes(step.state);
    return [
      ...claim(isKnown, `run ${run.number} lives, and its parent ${run.parent} does not wait`),
      ...claim(
        parent === undefined || run.depth === parent.depth + 1,
        `the depth of run ${run.number}`,
      ),
    ];
  });
  const waiting = runs.flatMap(({ steps, number }) =>
    steps.flatMap(({ child, state, node }) => {
      if (child === 0 || !['running', 'stopping', 'reported'].includes(state)) return [];
      const run = byNumber.get(child);
      const isRight = run !== undefined && isOver(run) === (state === 'reported');
      const name = `step ${node} of run ${number} (${state})`;
      return claim(isRight, `${name} waits for run ${child}, which is ${run?.state}`);
    }),
  );
  return [...awaited, ...waiting];
}

function isStepOver({ state }: StepDescription): boolean {
  return !['pending', 'due', 'running', 'stopping', 'reported'].includes(state);
}

function isGoingOn({ state }: RunDescription): boolean {
  return state === 'running' || state === 'paused';
}

function stepProblems(run: RunDescription, step: StepDescription): string[] {
  const name = `step ${step.node}${step.suffix} (${step.state})`;
  return [
    ...claim(step.until === 0 || step.state === 'running', `${name} has a timer`),
    ...claim(!step.isEvaluating || step.state === 'running', `${name} waits for a script`),
    ...claim(step.iteration === 0 || step.waiting <= 1, `${name} waits for ${step.waiting}`),
    ...claim(!isOver(run) || !['stopping', 'running'].includes(step.state), `${name} is live`),
  ];
}

function sorted(slots: readonly number[]): string {
  return slots.toSorted((a, b) => a - b).join();
}

/** Slots of all its frames: each has a power of two. */
function slotsOf(state: ReadonlyState, run: RunDescription): number {
  const frames = framesOf(state, run.slot as Slot);
  return frames.reduce((sum, { size }) => sum + BuddyBlocks.sizeFor(size), 0);
}

function needsWork(run: RunDescription, live: number): boolean {
  const has = (state: string): boolean => run.steps.some((step) => step.state === state);
  if (isOver(run)) return false;
  if (has('reported')) return true;
  if (run.state === 'paused') return false;
  if (live === 0 && run.evaluation === 0) return true;
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
