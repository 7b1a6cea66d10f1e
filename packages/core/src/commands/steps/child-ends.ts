import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { invariant } from '../../base/invariant.ts';
import { childIdOf } from '../../decision/runs/child-id.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import {
  isRunOver,
  RUN_CANCELLED,
  RUN_STATES,
  RUN_STOPPING,
  RUN_SUCCEEDED,
  RUN_TIMED_OUT,
  STEP_CANCELLED,
  STEP_FAILED,
  STEP_SUCCEEDED,
  STEP_TIMED_OUT,
} from '../../workflow/run-state.ts';
import {
  endStep,
  NOTHING,
  shownReference,
  stopRun,
  type Visit,
  visitStep,
} from '../runs/end-steps.ts';

/** Whether the step in this slot waits for a run. */
export function hasChild({ decision }: Visit, step: number): boolean {
  return decision.state.runs.steps.child[step] !== 0;
}

/** The run that a step waits for has ended: so does the step, in the same way. */
export function endWithChild(visit: Visit, step: number): void {
  const at = visitStep(visit, step);
  const { decision, node } = at;
  const { runs, programs } = decision.state;
  const child = childOf(visit, step);
  const state = runs.table.state[child];
  const output = payloadOf(visit, child);
  if (state === RUN_SUCCEEDED) {
    endStep(at, { state: STEP_SUCCEEDED, output, nexts: node.nexts });
    return;
  }
  const reference = shownReference(at, step);
  const { name } = programs.at(runs.table.program[child]);
  const ended = `run ${childIdOf(decision.state, step)} of "${name}" ended as ${RUN_STATES[state]}`;
  const message = `step "${reference}": ${ended}${saidBy(visit, output)}`;
  const stepState = STATES.get(state) ?? STEP_FAILED;
  endStep(at, { state: stepState, reason: 'child_failed', message, nexts: node.nexts });
}

const STATES = new Map([
  [RUN_TIMED_OUT, STEP_TIMED_OUT],
  [RUN_CANCELLED, STEP_CANCELLED],
]);

/** Characters of what a child said of its failure. Each level of runs adds to its beginning. */
const BEGIN_MAX = 150;
const END_MAX = 250;

/** What the error of a run says. */
function saidBy({ decision }: Visit, { bytes, start, end }: PayloadRange): string {
  if (start === end) return '';
  const { utf8 } = decision.runWork;
  const { message } = JSON.parse(utf8.decode(bytes.subarray(start, end))) as { message?: string };
  if (message === undefined) return '';
  if (message.length <= BEGIN_MAX + END_MAX) return `: ${message}`;
  // The end has the cause.
  return `: ${message.slice(0, BEGIN_MAX).trimEnd()} … ${message.slice(-END_MAX).trimStart()}`;
}

/** Stops the run that a step of a stopping run waits for. Its end ends the step. */
export function stopChild(visit: Visit, step: number): void {
  const { decision, run } = visit;
  const { state, emit, events, runWork } = decision;
  const { table } = state.runs;
  const child = childOf(visit, step);
  const event = events.stepStopping;
  event.slot = step as Slot;
  event.task = table.number[run] as TaskNumber;
  emit(event);
  const isStopping = table.state[child] === RUN_STOPPING || isRunOver(table.state[child]);
  if (isStopping) return;
  const program = runWork.programs.of(state.programs.at(table.program[child]));
  stopRun(
    { decision, run: child, program },
    {
      outcome: RUN_CANCELLED,
      reason: 'parent_stopped',
      message: 'the run that waits for this one is stopping',
    },
  );
}

function childOf({ decision }: Visit, step: number): Slot {
  const { table, steps } = decision.state.runs;
  const child = table.find(steps.child[step] as TaskNumber);
  invariant(child !== NO_SLOT, 'a run stays in memory while a step waits for it');
  return child;
}

function payloadOf({ decision }: Visit, child: Slot): PayloadRange {
  const { payloads, runs } = decision.state;
  const { output, outputLength } = runs.table;
  const length = outputLength[child];
  if (length === 0) return NOTHING;
  const bytes = payloads.bytesOf(output[child]);
  const start = payloads.startOf(output[child]);
  return { bytes, start, end: start + length };
}
