import { NO_SLOT } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { referenceOf } from '../../decision/run-place.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import { ValueError } from '../../workflow/json-writer.ts';
import type { StepNode } from '../../workflow/program.ts';
import { STEP_FAILED, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { fillDetails } from '../tasks/submit-tasks.ts';
import { enterStartWorkflow, enterSubWorkflow } from './child-runs.ts';
import { endStep, type StepVisit, type Visit, visitStep } from './end-steps.ts';
import { fill } from './fill-template.ts';
import { decideSwitch, endJoin, setVariables, terminate } from './immediate-steps.ts';
import { enterLoop } from './loop-steps.ts';
import { startScript, startWait } from './waiting-steps.ts';

/** Enters a step that is due. False when memory has no room for it. */
export function enterStep(visit: Visit, step: number): boolean {
  const at = visitStep(visit, step);
  try {
    return enter(at);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const reference = referenceOf(at.decision.state.runs, at.program, step);
    const message = `step "${reference}": ${error.message}`;
    const nexts = nextsAfterFailure(at.node);
    endStep(at, { state: STEP_FAILED, reason: error.code, message, nexts });
    return true;
  }
}

/** An optional SWITCH that could not decide takes its default case. */
export function nextsAfterFailure(node: StepNode): readonly number[] {
  return node.kind === 'SWITCH' ? node.otherwise : node.nexts;
}

function enter(at: StepVisit): boolean {
  const { node } = at;
  switch (node.kind) {
    case 'SIMPLE':
    case 'HTTP':
      return submitStep(at);
    case 'DO_WHILE':
      return enterLoop(at);
    case 'SWITCH':
      if (node.script === '') decideSwitch(at);
      else startScript(at);
      return true;
    case 'INLINE':
      startScript(at);
      return true;
    case 'WAIT':
    case 'HUMAN':
      startWait(at);
      return true;
    case 'SUB_WORKFLOW':
      return enterSubWorkflow(at);
    case 'START_WORKFLOW':
      return enterStartWorkflow(at);
    case 'SET_VARIABLE':
      setVariables(at);
      return true;
    case 'TERMINATE':
      terminate(at);
      return true;
    case 'JOIN':
      endJoin(at);
      return true;
    default:
      endStep(at, { state: STEP_SUCCEEDED, nexts: node.nexts });
      return true;
  }
}

/** Steps have the last part of the memory for themselves, so that runs can end when it is full. */
function submitStep(at: StepVisit): boolean {
  const { decision, run, program, node, step } = at;
  const { state, events, now } = decision;
  const slot = state.tasks.nextFree();
  const input = fill(decision, at, node.input);
  const isFull = state.heldBytes + input.end > state.limits.payloadBytesMax;
  if (slot === NO_SLOT || isFull) return false;
  const { table } = state.runs;
  const { namespace } = state.programs.at(table.program[run]);
  const key = queueKey(namespace, node.name);
  if (state.queueOf(key) === undefined && state.queueCount >= TASK_TYPES_MAX) {
    const message = `there is no room for the task type "${node.name}"`;
    endStep(at, { state: STEP_FAILED, reason: 'too_many_types', message, nexts: [] });
    return true;
  }
  const event = events.stepSubmitted;
  event.slot = slot;
  event.task = state.nextTask;
  event.step = step;
  event.run = table.number[run];
  event.reference = referenceOf(state.runs, program, step);
  event.runAt = node.startDelayMs === 0 ? 0 : now + node.startDelayMs;
  const spec = { type: node.name, ...node.task };
  fillDetails(event, withDefaults(spec, state.taskTypes.get(key)), key, decision.shapeTexts);
  event.priority = table.priority[run];
  Object.assign(event.input, input);
  decision.emit(event);
  if (node.kind === 'HTTP') decision.outputs.httpNamespaces.push(namespace);
  return true;
}
