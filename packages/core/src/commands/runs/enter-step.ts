import { NO_SLOT } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import { withDefaults } from '../../state/task-types.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { wholeValue } from '../../workflow/json-bytes.ts';
import { ValueError } from '../../workflow/json-writer.ts';
import { mergeObjects } from '../../workflow/merge-objects.ts';
import type { StepNode } from '../../workflow/program.ts';
import {
  RUN_CANCELLED,
  RUN_FAILED,
  RUN_SUCCEEDED,
  STEP_FAILED,
  STEP_SUCCEEDED,
  STEP_WITH_ERRORS,
} from '../../workflow/run-state.ts';
import type { Template } from '../../workflow/template.ts';
import { fillDetails } from '../tasks/submit-tasks.ts';
import { endStep, NOTHING, stopRun, type Visit } from './end-steps.ts';

/** Enters a step that is due. False when memory has no room for its task. */
export function enterStep(visit: Visit, step: number): boolean {
  const node = visit.program.nodes[step - visit.base];
  try {
    return enter(visit, node);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    const message = `step "${node.reference}": ${error.message}`;
    endStep(visit, node, { state: STEP_FAILED, reason: error.code, message, nexts: node.nexts });
    return true;
  }
}

function enter(visit: Visit, node: StepNode): boolean {
  switch (node.kind) {
    case 'SIMPLE':
      return submitStep(visit, node);
    case 'SWITCH':
      decideSwitch(visit, node);
      return true;
    case 'SET_VARIABLE':
      setVariables(visit, node);
      return true;
    case 'TERMINATE':
      terminate(visit, node);
      return true;
    case 'JOIN':
      endStep(visit, node, { state: joinState(visit, node), nexts: node.nexts });
      return true;
    default:
      endStep(visit, node, { state: STEP_SUCCEEDED, nexts: node.nexts });
      return true;
  }
}

/** Steps have the last part of the memory for themselves, so that runs can end when it is full. */
function submitStep(visit: Visit, node: StepNode): boolean {
  const { decision, run, base } = visit;
  const { state, events, now } = decision;
  const slot = state.tasks.nextFree();
  const input = fill(visit, node.input);
  const isFull = state.heldBytes + input.end > state.limits.payloadBytesMax;
  if (slot === NO_SLOT || isFull) return false;
  const { table } = state.runs;
  const { namespace } = state.programs.at(table.program[run]);
  const key = queueKey(namespace, node.name);
  if (state.queueOf(key) === undefined && state.queueCount >= TASK_TYPES_MAX) {
    const message = `there is no room for the task type "${node.name}"`;
    endStep(visit, node, { state: STEP_FAILED, reason: 'too_many_types', message, nexts: [] });
    return true;
  }
  const event = events.stepSubmitted;
  event.slot = slot;
  event.task = state.nextTask;
  event.step = base + node.place;
  event.run = table.number[run];
  event.reference = node.reference;
  event.runAt = node.startDelayMs === 0 ? 0 : now + node.startDelayMs;
  const spec = { type: node.name, ...node.task };
  fillDetails(event, withDefaults(spec, state.taskTypes.get(key)), key, decision.shapeTexts);
  event.priority = table.priority[run];
  Object.assign(event.input, input);
  decision.emit(event);
  return true;
}

/** Texts are compared as they are, other scalars as JSON, a missing value as null. */
function decideSwitch(visit: Visit, node: StepNode): void {
  const { utf8 } = visit.decision.runWork;
  const input = textOf(visit, fill(visit, node.input));
  const value = (JSON.parse(input) as Record<string, unknown>)[node.decidedBy] ?? null;
  const chosen = typeof value === 'string' ? value : JSON.stringify(value);
  const bytes = utf8.encode(JSON.stringify({ evaluationResult: [chosen], selectedCase: chosen }));
  const nexts = node.cases.get(chosen) ?? node.otherwise;
  const output = { bytes, start: 0, end: bytes.length };
  endStep(visit, node, { state: STEP_SUCCEEDED, output, nexts });
}

function setVariables(visit: Visit, node: StepNode): void {
  const { decision, run } = visit;
  const { runWork, state } = decision;
  const { table } = state.runs;
  const given = fill(visit, node.input);
  let output = given;
  if (table.variablesLength[run] > 0) {
    const bytes = state.payloads.bytesOf(table.variables[run]);
    const start = state.payloads.startOf(table.variables[run]);
    const before = wholeValue(bytes, start, start + table.variablesLength[run]);
    const over = { ...given, bytes: given.bytes.slice(0, given.end) };
    runWork.value.clear();
    mergeObjects(before, over, { into: runWork.value, utf8: runWork.utf8 });
    output = { bytes: runWork.value.bytes, start: 0, end: runWork.value.length };
  }
  endStep(visit, node, { state: STEP_SUCCEEDED, output, nexts: node.nexts });
}

const TERMINATIONS: Readonly<Record<string, number>> = {
  COMPLETED: RUN_SUCCEEDED,
  FAILED: RUN_FAILED,
  TERMINATED: RUN_CANCELLED,
};

function terminate(visit: Visit, node: StepNode): void {
  const { utf8 } = visit.decision.runWork;
  const output = fill(visit, node.input);
  const input = JSON.parse(textOf(visit, output)) as Record<string, unknown>;
  endStep(visit, node, { state: STEP_SUCCEEDED, output, nexts: [] });
  const status = String(input.terminationStatus ?? 'COMPLETED');
  const outcome = TERMINATIONS[status] ?? RUN_FAILED;
  const reason = 'terminated' as const;
  if (outcome === RUN_SUCCEEDED) {
    const bytes = utf8.encode(JSON.stringify(input.workflowOutput ?? null));
    stopRun(visit, { outcome, reason, step: node, output: { bytes, start: 0, end: bytes.length } });
    return;
  }
  const said = input.terminationReason;
  const message = typeof said === 'string' ? said : `step "${node.reference}" ended the run`;
  stopRun(visit, { outcome, reason, step: node, message });
}

/** An optional member that failed shows in the join. */
function joinState({ decision, base }: Visit, { members }: StepNode): number {
  const { state } = decision.state.runs.steps;
  const hasErrors = members.some((place) => state[base + place] === STEP_WITH_ERRORS);
  return hasErrors ? STEP_WITH_ERRORS : STEP_SUCCEEDED;
}

/** Fills a template. The result is valid until the next one. */
export function fill(visit: Visit, template: Template): PayloadRange {
  const { run, program } = visit;
  const { value, filler, values } = visit.decision.runWork;
  value.clear();
  filler.fill(template, (part) => values.find({ run, program }, part), value);
  return value.length === 0 ? NOTHING : { bytes: value.bytes, start: 0, end: value.length };
}

function textOf({ decision }: Visit, { bytes, start, end }: PayloadRange): string {
  return decision.runWork.utf8.decode(bytes.subarray(start, end));
}
