import {
  Branches,
  CALLBACK_TASK_TYPE,
  childIdOf,
  EVALUATES_VALUES,
  type Explanation,
  hasRoomForFrame,
  isRunOver,
  NO_SLOT,
  type PartitionReader,
  type Program,
  type ReadonlyState,
  RUN_STATES,
  referenceOf,
  type Slot,
  type TaskNumber,
} from '@sluice/core';
import { programOf } from '../base/step-outline.ts';
import { timeText } from '../base/time-text.ts';
import { UTF8 } from '../base/utf8.ts';
import { payloadText, taskIdOf } from '../tasks/task-view.ts';

/** Steps that an explanation names, and characters of what they ask. */
const STEPS_MAX = 20;
const INPUT_CHARACTERS_MAX = 500;

/** What a run waits for. */
export interface RunExplanation {
  /** Whether it goes on by itself: nothing but time, workers or scripts is needed. */
  readonly running: boolean;
  readonly reasons: readonly RunReason[];
  /** Steps that the run also waits for. */
  readonly stepsNotShown: number;
}

interface RunReason {
  readonly code: RunReasonCode;
  readonly message: string;
  readonly step?: string;
  readonly taskId?: string;
  /** Why the task of the step is not running, worker by worker. */
  readonly task?: Explanation;
  readonly childRunId?: string;
}

type RunReasonCode =
  | 'finished'
  | 'paused'
  | 'stopping'
  | 'task_running'
  | 'task_waiting'
  | 'time'
  | 'call'
  | 'script'
  | 'child'
  | 'callback'
  | 'due'
  | 'no_room';

/** What a run in memory waits for, down to its tasks and their workers. */
export function explainRun(
  state: ReadonlyState,
  partition: PartitionReader,
  run: Slot,
  stepsMax = STEPS_MAX,
): RunExplanation {
  const { table } = state.runs;
  const runState = RUN_STATES[table.state[run]];
  if (isRunOver(table.state[run])) return ended(runState, table.endedAt[run]);
  const steps = waitedFor(state, run);
  const reasons = steps.slice(0, stepsMax).map((step) => explainStep(state, partition, step));
  const lead: RunReason[] = [];
  if (runState === 'paused') {
    lead.push({ code: 'paused', message: 'the run is paused: no step begins until it is resumed' });
  }
  if (runState === 'stopping') {
    const outcome = RUN_STATES[table.outcome[run]];
    lead.push({ code: 'stopping', message: `the run ends as ${outcome} when its tasks stop` });
  }
  if (table.isEvaluating[run] === 1) {
    const message = 'the output of the run waits for values that are in blobs';
    reasons.push({ code: 'script', message });
  }
  return {
    running: runState !== 'paused' && reasons.some(({ code }) => code !== 'call'),
    reasons: [...lead, ...reasons],
    stepsNotShown: Math.max(0, steps.length - stepsMax),
  };
}

/** For a run that has left memory, too. */
export function ended(status: string, endedAt: number): RunExplanation {
  const message = `the run ended at ${timeText(endedAt)}: ${status}`;
  return { running: false, reasons: [{ code: 'finished', message }], stepsNotShown: 0 };
}

/** A loop waits for the steps of its body, which are listed themselves. */
function waitedFor({ runs, programs }: ReadonlyState, run: Slot): number[] {
  const { table, steps } = runs;
  const program = programOf(programs.at(table.program[run]));
  const found: number[] = [];
  for (const heads of [table.runningHead, table.stoppingHead, table.reportedHead, table.dueHead]) {
    for (let step = heads[run]; step !== NO_SLOT; step = steps.next[step]) {
      const isLoop = program.nodes[steps.node[step]].kind === 'DO_WHILE';
      const isBusy = steps.isEvaluating[step] === 0 && steps.inner[step] !== 0;
      if (!isLoop || !isBusy || heads === table.dueHead) found.push(step);
    }
  }
  return found;
}

function explainStep(state: ReadonlyState, partition: PartitionReader, step: number): RunReason {
  const { runs, programs } = state;
  const { steps, table } = runs;
  const program = programOf(programs.at(table.program[steps.run[step]]));
  const reference = referenceOf(state, program, step, new Branches(state, UTF8));
  const name = `step "${reference}"`;
  const task = (steps.link[step] - 1) as Slot;
  if (task >= 0 && state.typeOf(task) === CALLBACK_TASK_TYPE) {
    const message = `${name} waits until its callback is delivered`;
    return { code: 'callback', message, step: reference, taskId: taskIdOf(state, task) };
  }
  if (task >= 0) {
    const explained = partition.explain(task);
    const code = explained.running ? 'task_running' : 'task_waiting';
    const message = explained.running
      ? `${name} runs on a worker`
      : `${name} waits: ${explained.reasons[0]?.message ?? 'a worker will get it at any moment'}`;
    return { code, message, step: reference, taskId: taskIdOf(state, task), task: explained };
  }
  if (steps.child[step] !== 0) return explainChild(state, partition, { step, reference });
  if (steps.isEvaluating[step] === EVALUATES_VALUES) {
    const message = `${name} waits for values that are in blobs`;
    return { code: 'script', message, step: reference };
  }
  if (steps.isEvaluating[step] !== 0) {
    return { code: 'script', message: `${name} waits for its script`, step: reference };
  }
  if (runs.stepTimers.has(step as Slot)) {
    const message = `${name} waits until ${timeText(steps.until[step])}`;
    return { code: 'time', message, step: reference };
  }
  if (steps.startedAt[step] !== 0 && steps.inner[step] === 0) {
    const input = payloadText(state, steps.input[step], steps.inputLength[step]);
    const asks = input === '' || input === '{}' ? '' : ` ${input.slice(0, INPUT_CHARACTERS_MAX)}`;
    const message = `${name} waits for a call that completes it${asks}`;
    return { code: 'call', message, step: reference };
  }
  if (RUN_STATES[table.state[steps.run[step]]] === 'paused') {
    return { code: 'due', message: `${name} begins when the run is resumed`, step: reference };
  }
  if (hasRoom(state, program, step) && !partition.waitsForRoom(steps.run[step] as Slot)) {
    return { code: 'due', message: `${name} begins at any moment`, step: reference };
  }
  const { tasksMax } = state.limits;
  const message =
    `${name} waits for room in memory, which has at most ${tasksMax} tasks (limits.tasksMax). ` +
    'Runs keep their ended tasks until they end: cancel runs that are not needed, or raise it';
  return { code: 'no_room', message, step: reference };
}

/** By the conditions that the step itself waits for. */
function hasRoom(state: ReadonlyState, { nodes, scopes }: Program, step: number): boolean {
  const { loop } = nodes[state.runs.steps.node[step]];
  if (loop !== undefined) return hasRoomForFrame(state, scopes[loop.scope]);
  const { heldBytes, limits, tasks } = state;
  return tasks.nextFree() !== NO_SLOT && heldBytes < limits.payloadBytesMax;
}

/** The run that a step waits for, and the first thing that this run waits for. */
function explainChild(
  state: ReadonlyState,
  partition: PartitionReader,
  { step, reference }: { readonly step: number; readonly reference: string },
): RunReason {
  const { steps, table } = state.runs;
  const childRunId = childIdOf(state, step);
  const child = table.find(steps.child[step] as TaskNumber);
  const name = `step "${reference}" waits for run ${childRunId}`;
  const [first] = child === NO_SLOT ? [] : explainRun(state, partition, child, 1).reasons;
  const message = first === undefined ? name : `${name}: ${first.message}`;
  return { code: 'child', message, step: reference, childRunId };
}
