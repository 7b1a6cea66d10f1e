import type { Slot, TaskNumber } from '../../base/ids.ts';
import { hasRoomForFrame } from '../../decision/runs/frame-room.ts';
import { ITEMS_LEAD } from '../../decision/runs/loop-values.ts';
import { elementsOf, kindOf } from '../../expressions/json-bytes.ts';
import { VALUE_BYTES_MAX, ValueError } from '../../expressions/json-writer.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { ITERATIONS_MAX, type LoopNode, STEPS_PER_RUN_MAX } from '../../workflow/program.ts';
import { STEP_FAILED, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { endStep, type StepVisit } from '../runs/end-steps.ts';
import { fill } from './fill-template.ts';
import { askForScript, startStep } from './waiting-steps.ts';

/** A loop begins, or its body is over. False when memory has no room for an iteration. */
export function enterLoop(at: StepVisit): boolean {
  const { decision, node, step } = at;
  const loop = node.loop as LoopNode;
  const { steps } = decision.state.runs;
  if (steps.inner[step] === 0) return beginLoop(at, loop);
  if (node.script === '') return goOn(at, true);
  if (!hasRoom(at, loop)) return false;
  askForScript(at);
  return true;
}

function beginLoop(at: StepVisit, loop: LoopNode): boolean {
  if (!hasRoom(at, loop)) return false;
  const { decision, step } = at;
  decision.runWork.values.loops.begins(step);
  const input = loopInput(at, loop);
  startStep(at, input);
  if (loop.items !== undefined && input.items === 0) {
    endStep(at, { state: STEP_SUCCEEDED, nexts: at.node.nexts });
    return true;
  }
  openFrame(at, loop);
  return true;
}

/** The list comes first in the input, where it is found at once. */
function loopInput(
  at: StepVisit,
  loop: LoopNode,
): { readonly input: PayloadRange; readonly items: number } {
  const { decision, node } = at;
  const { utf8 } = decision.runWork;
  const inputs = fill(decision, at, node.input);
  if (loop.items === undefined) return { input: inputs, items: 0 };
  const others = utf8.decode(inputs.bytes.subarray(inputs.start, inputs.end));
  const items = fill(decision, at, loop.items);
  if (kindOf(items) !== 'array') {
    throw new ValueError('bad_value', `items must be a list, and it is a ${kindOf(items)}`);
  }
  const list = utf8.decode(items.bytes.subarray(items.start, items.end));
  const count = [...elementsOf(items)].length;
  const rest = others === '{}' ? '}' : `,${others.slice(1)}`;
  const bytes = utf8.encode(`${ITEMS_LEAD}${list}${rest}`);
  if (bytes.length > VALUE_BYTES_MAX) {
    throw new ValueError('value_too_large', `its input has more than ${VALUE_BYTES_MAX} bytes`);
  }
  return { input: { bytes, start: 0, end: bytes.length }, items: count };
}

/** The body is over, and the condition, if there is one, says whether to go on. */
export function goOn(at: StepVisit, isWanted: boolean): boolean {
  const { decision, node, step } = at;
  const loop = node.loop as LoopNode;
  const { steps, table } = decision.state.runs;
  const done = steps.iteration[step];
  const isMore = loop.items === undefined || done < steps.items[step];
  if (!isWanted || !isMore) {
    endStep(at, { state: STEP_SUCCEEDED, nexts: node.nexts });
    return true;
  }
  const size = at.program.scopes[loop.scope].arrivals.length;
  if (done >= ITERATIONS_MAX) {
    fail(at, 'too_many_iterations', `a loop has at most ${ITERATIONS_MAX} iterations`);
  } else if (table.size[at.run] + size > STEPS_PER_RUN_MAX) {
    const what = `a run has at most ${STEPS_PER_RUN_MAX} steps in memory; use keepLastN`;
    fail(at, 'run_too_large', what);
  } else {
    if (!hasRoom(at, loop)) return false;
    openFrame(at, loop);
  }
  return true;
}

function fail(at: StepVisit, reason: 'too_many_iterations' | 'run_too_large', what: string): void {
  const message = `step "${at.node.reference}": ${what}`;
  endStep(at, { state: STEP_FAILED, reason, message, nexts: at.node.nexts });
}

function hasRoom({ decision, program }: StepVisit, { scope }: LoopNode): boolean {
  return hasRoomForFrame(decision.state, program.scopes[scope]);
}

function openFrame(at: StepVisit, loop: LoopNode): void {
  const { decision, run, program, step } = at;
  const { state, emit, events } = decision;
  const { steps, table } = state.runs;
  const event = events.frameOpened;
  event.slot = step as Slot;
  event.task = table.number[run] as TaskNumber;
  event.scope = loop.scope;
  event.iteration = steps.iteration[step] + 1;
  event.dropped = oldestToDrop(at, loop);
  event.base = steps.nextFrame(program.scopes[loop.scope].arrivals.length);
  emit(event);
}

/** Start of the oldest frame plus one, if there would be more than the loop keeps. */
function oldestToDrop({ decision, step }: StepVisit, { keepLastN }: LoopNode): number {
  const { steps } = decision.state.runs;
  if (keepLastN === 0) return 0;
  let kept = 0;
  let oldest = 0;
  for (let each = steps.inner[step]; each !== 0; each = steps.earlier[each - 1]) {
    kept += 1;
    oldest = each;
  }
  return kept >= keepLastN ? oldest : 0;
}
