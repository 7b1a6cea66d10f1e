import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { endTask } from '../../decision/lease-ends.ts';
import { BlobNeeded } from '../../decision/runs/blob-values.ts';
import { ValueError } from '../../expressions/json-writer.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { SUCCEEDED, SUCCEEDED_REASON } from '../../task/task-state.ts';
import { wrongCallbackFields } from '../../workflow/http-fields.ts';
import {
  CALLBACK_TASK_TYPE,
  type CallbackNode,
  HTTP_TASK_TYPE,
  type StepNode,
} from '../../workflow/program.ts';
import { runReason, STEP_FAILED, STEP_SKIPPED, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import {
  endStep,
  type StepVisit,
  shownReference,
  type Visit,
  visitStep,
} from '../runs/end-steps.ts';
import { fillDetails } from '../tasks/submit-tasks.ts';
import { askForValues } from './blob-steps.ts';
import { enterStartWorkflow, enterSubWorkflow } from './child-runs.ts';
import { publish, sinkOfStep } from './event-steps.ts';
import { endExclusiveJoin } from './exclusive-joins.ts';
import { fillAndParse, fillInput } from './fill-template.ts';
import { checkType } from './fork-checks.ts';
import { enterFork } from './fork-steps.ts';
import { decideSwitch, endJoin, setVariables, terminate } from './immediate-steps.ts';
import { enterLoop } from './loop-steps.ts';
import { startScript, startWait } from './waiting-steps.ts';

/** Enters a step that is due. False when memory has no room for it. */
export function enterStep(visit: Visit, step: number): boolean {
  const at = visitStep(visit, step);
  if (isToBeSkipped(at)) {
    const nexts = nextsAfterFailure(at.node);
    endStep(at, { state: STEP_SKIPPED, reason: 'skipped_by_call', nexts });
    return true;
  }
  try {
    return enter(at);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    if (error instanceof BlobNeeded) {
      // While memory is full, the values would be asked for again and again.
      if (visit.decision.now < visit.decision.runWork.restsUntil) return false;
      if (askForValues(at, error)) return true;
    }
    const message = `step "${shownReference(at, step)}": ${error.message}`;
    const nexts = nextsAfterFailure(at.node);
    endStep(at, { state: STEP_FAILED, reason: error.code, message, nexts });
    return true;
  }
}

function isToBeSkipped({ decision, step }: StepVisit): boolean {
  return decision.state.runs.steps.reason[step] === runReason('skipped_by_call');
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
      return submitStep(at, fillInput(at));
    case 'DYNAMIC':
      return submitDynamic(at);
    case 'CALLBACK':
      return submitCallback(at);
    case 'EVENT':
      return enterEvent(at);
    case 'FORK_JOIN_DYNAMIC':
      return enterFork(at);
    case 'DO_WHILE':
      return enterLoop(at);
    case 'SWITCH':
      if (node.script === '') decideSwitch(at);
      else startScript(at);
      return true;
    case 'INLINE':
    case 'JSON_JQ_TRANSFORM':
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
    case 'EXCLUSIVE_JOIN':
      endExclusiveJoin(at);
      return true;
    case 'JOIN':
      endJoin(at);
      return true;
    default:
      endStep(at, { state: STEP_SUCCEEDED, nexts: node.nexts });
      return true;
  }
}

/** One of its inputs is the task type. */
function submitDynamic(at: StepVisit): boolean {
  const { decision, node } = at;
  const input = fillInput(at);
  const text = decision.runWork.utf8.decode(input.bytes.subarray(input.start, input.end));
  const given = JSON.parse(text) as Record<string, unknown>;
  const name = Object.hasOwn(given, node.namedBy) ? given[node.namedBy] : undefined;
  checkType(name, node.namedBy);
  const named = { ...node, name, task: { ...node.task, type: name } };
  return submitStep({ ...at, node: named }, input);
}

/**
 * The task of a CALLBACK has a delivery from its start on. It ends at once, or with the delivery.
 */
function submitCallback(at: StepVisit): boolean {
  const { decision, node } = at;
  const { to, waits } = node.callback as CallbackNode;
  const given = fillAndParse(decision, at, to) as { url: string; secret: string | null };
  const [wrong] = wrongCallbackFields({ ...given, url: given.url ?? '' });
  if (wrong !== undefined) throw new ValueError('bad_value', `callback: ${wrong.message}`);
  return owe(at, given, waits);
}

/** An EVENT is published at once, or is a delivery. The step waits for neither. */
function enterEvent(at: StepVisit): boolean {
  const sink = sinkOfStep(at);
  if ('url' in sink) return owe(at, { ...sink, secret: null }, at.node.isAsync);
  publish(at, sink.name);
  return true;
}

interface Receiver {
  readonly url: string;
  readonly secret: string | null;
}

/** False when there is no room for a delivery. */
function owe(at: StepVisit, { url, secret }: Receiver, waits: boolean): boolean {
  const { decision, node, step } = at;
  const { outbox, limits, runs } = decision.state;
  if (outbox.pendingCount >= limits.callbacksMax) return false;
  const callback = { url, on: ['queued'], ...(secret === null ? {} : { secret }) };
  const name = CALLBACK_TASK_TYPE;
  const task = { ...node.task, type: name, callback };
  const named = { ...node, name, task, startDelayMs: 0 };
  if (!submitStep({ ...at, node: named }, fillInput(at))) return false;
  const slot = (runs.steps.link[step] - 1) as Slot;
  if (!waits) endTask(decision, slot, { state: SUCCEEDED, reason: SUCCEEDED_REASON });
  return true;
}

/** Steps have the last part of the memory for themselves, so that runs can end when it is full. */
function submitStep(at: StepVisit, input: PayloadRange): boolean {
  const { decision, run, node, step } = at;
  const { state, events, now } = decision;
  const slot = state.tasks.nextFree();
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
  event.reference = shownReference(at, step);
  event.runAt = node.startDelayMs === 0 ? 0 : now + node.startDelayMs;
  const spec = { type: node.name, ...node.task };
  fillDetails(event, withDefaults(spec, state.taskTypes.get(key)), key, decision.shapeTexts);
  event.priority = table.priority[run];
  Object.assign(event.input, input);
  decision.emit(event);
  if (node.name === HTTP_TASK_TYPE) decision.outputs.httpNamespaces.push(namespace);
  return true;
}
