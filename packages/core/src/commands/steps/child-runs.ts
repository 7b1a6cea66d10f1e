import { invariant } from '../../base/invariant.ts';
import { runIdText } from '../../base/run-id.ts';
import type { Decision } from '../../decision/decision.ts';
import { VALUE_BYTES_MAX, ValueError } from '../../expressions/json-writer.ts';
import { inputProblems, problemsText } from '../../schema/run-schemas.ts';
import { exceedsRuns } from '../../state/quotas.ts';
import type { StoredProgram } from '../../state/runs/programs.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { wrongFields } from '../../workflow/child-fields.ts';
import type { ChildNode, Program } from '../../workflow/program.ts';
import {
  RUN_DEPTH_MAX,
  type RunReason,
  STARTED_RUN,
  STEP_FAILED,
  STEP_SUCCEEDED,
  SUB_RUN,
} from '../../workflow/run-state.ts';
import { endStep, type StepVisit, shownReference, type Visit } from '../runs/end-steps.ts';
import { compileNew, hasRoomForDefinitions, register } from '../runs/put-workflow.ts';
import { fillDefaults, hasHugeInput } from '../runs/start-runs.ts';
import { fillAndParse, fillInput, jsonBytes, parsed } from './fill-template.ts';
import { startStep } from './waiting-steps.ts';

/**
 * Runs that other runs start.
 *
 * A child is to its step what a task is: the step begins when the child fits into memory, the end
 * of the child is one fact with the report to its step, and the step then ends as the child did. So
 * nothing can get lost between the two, and a child ends its step once.
 */

/** Starts the run that the step waits for. False when memory has no room for it. */
export function enterSubWorkflow(at: StepVisit): boolean {
  const { decision, node, step } = at;
  const child = node.child as ChildNode;
  const which = fillAndParse(decision, at, child.which) as Which;
  checkWhich(which, 'subWorkflowParam');
  const { definition } = child;
  const found =
    definition === '' ? findRegistered(at, which) : findInside(at, which.name, definition);
  if (typeof found === 'string') return fail(at, found, which);
  const filled = fillInput(at);
  if (!hasRoom(at, found, filled)) return waitForRoom(at);
  // Defaults of the child are merged in the memory that has the filled value.
  const bytes = filled.bytes.slice(filled.start, filled.end);
  const input = { bytes, start: 0, end: bytes.length };
  const stored = takeStored(decision, found);
  startStep(at, { input });
  const correlation = correlationOf(at);
  startChild(at, { stored, input, relation: SUB_RUN, step: step + 1, correlation });
  return true;
}

/** Starts a run that nobody waits for. False when memory has no room for it. */
export function enterStartWorkflow(at: StepVisit): boolean {
  const { decision, node, step } = at;
  const { startWorkflow } = parsed(decision, fillInput(at)) as { startWorkflow?: Which };
  if (typeof startWorkflow !== 'object' || startWorkflow === null) {
    throw new ValueError(
      'bad_value',
      'startWorkflow must be an object with the name of a workflow',
    );
  }
  checkWhich(startWorkflow, 'startWorkflow');
  const found = findRegistered(at, startWorkflow);
  if (typeof found === 'string') return fail(at, found, startWorkflow);
  const input = jsonBytes(decision, startWorkflow.input ?? null);
  if (!hasRoom(at, found, input)) return waitForRoom(at);
  const stored = takeStored(decision, found);
  const correlation = startWorkflow.correlationId ?? correlationOf(at);
  const child = { stored, input, relation: STARTED_RUN, step: step + 1, correlation };
  const workflowId = startChild(at, child);
  const output = jsonBytes(decision, { workflowId });
  endStep(at, { state: STEP_SUCCEEDED, output, nexts: node.nexts });
  return true;
}

export interface Which {
  readonly name: string;
  readonly version?: number | null;
  readonly input?: unknown;
  readonly correlationId?: string | null;
}

export function checkWhich({ name, version, correlationId }: Which, field: string): void {
  const [wrong] = wrongFields({ name, version, correlationId });
  if (wrong !== undefined) throw new ValueError('bad_value', `${field}: ${wrong.message}`);
}

/** A workflow that is known, or one that stands in the definition and is not known yet. */
export type Found =
  | { readonly program: StoredProgram; readonly added?: undefined }
  | { readonly added: Added; readonly program?: undefined };

type Added = Pick<StoredProgram, 'namespace' | 'name' | 'version' | 'text' | 'hash'>;

/** A workflow that is registered; why it cannot be run otherwise. */
export function findRegistered(
  { decision, run }: Visit,
  { name, version }: Which,
): Found | 'too_deep' | 'workflow_not_found' {
  const { programs, runs } = decision.state;
  if (runs.table.depth[run] >= RUN_DEPTH_MAX) return 'too_deep';
  const { namespace } = programs.at(runs.table.program[run]);
  const program = programs.version(namespace, name, version ?? 0);
  return program === undefined ? 'workflow_not_found' : { program };
}

function findInside(at: StepVisit, name: string, text: string): Found | 'too_deep' {
  const { decision, run, node } = at;
  const { programs, runs } = decision.state;
  if (runs.table.depth[run] >= RUN_DEPTH_MAX) return 'too_deep';
  const parent = programs.at(runs.table.program[run]);
  const { namespace } = parent;
  // The definition around it and its place there say which one it is.
  const hash = `${parent.hash}/${node.place}`;
  const known = programs.inline(namespace, hash);
  if (known !== undefined) return { program: known };
  return { added: { namespace, name, version: 0, text, hash } };
}

function fail(at: StepVisit, reason: RunReason, which: Which): boolean {
  const { node, step } = at;
  const reference = shownReference(at, step);
  const message = `step "${reference}": ${whyNotFound(reason, which)}`;
  endStep(at, { state: STEP_FAILED, reason, message, nexts: node.nexts });
  return true;
}

export function whyNotFound(reason: RunReason, { name, version }: Which): string {
  if (reason === 'too_deep') {
    return `runs start each other at most ${RUN_DEPTH_MAX} deep; does "${name}" call itself?`;
  }
  const which = version == null ? `"${name}"` : `version ${version} of "${name}"`;
  return `there is no workflow ${which}; register it`;
}

/**
 * As for a run that a call starts, but a child may use the memory that is left for steps. An input
 * that the workflow does not take is a `ValueError`.
 */
export function hasRoom({ decision }: Visit, found: Found, input: PayloadRange): boolean {
  const { state } = decision;
  const { tasks, runs, limits, heldBytes } = state;
  const { added } = found;
  const { namespace } = added ?? found.program;
  if (exceedsRuns(state, namespace, 1)) return false;
  if (added !== undefined && !hasRoomForDefinitions(state, [added.text])) return false;
  const program = compiled(decision, found);
  const bytes = input.end - input.start;
  if (hasHugeInput(program, bytes)) {
    const what = `its input has ${bytes} bytes; with defaults at most ${VALUE_BYTES_MAX / 2} fit`;
    throw new ValueError('value_too_large', what);
  }
  const wrong = inputProblems(program, input, decision.runWork.utf8);
  if (wrong.length > 0) {
    const what = 'its input does not fit the inputSchema of the workflow';
    throw new ValueError('bad_value', `${what}: ${problemsText(wrong)}`);
  }
  const [{ arrivals, tasks: needed }] = program.scopes;
  return (
    runs.table.count < limits.tasksMax &&
    tasks.count + runs.promised + needed <= limits.tasksMax &&
    runs.steps.hasRoomFor([arrivals.length]) &&
    heldBytes + 2 * bytes <= limits.payloadBytesMax
  );
}

/**
 * How long a step waits for room for its run. Runs that hold memory while they wait for more could
 * wait for each other for ever.
 */
const WAIT_FOR_ROOM_MS = 10 * 60_000;
const MINUTES = WAIT_FOR_ROOM_MS / 60_000;
export const NO_ROOM = `memory or quotas.runsMax had no room for its run for ${MINUTES} minutes`;

/** Whether the run has waited for room for too long. */
export function hasWaited({ decision, run }: Visit): boolean {
  const { runWork, now, state } = decision;
  const number = state.runs.table.number[run];
  const before = runWork.blockedSince.get(run);
  const at = before?.number === number ? before.at : now;
  const isTooLong = now - at >= WAIT_FOR_ROOM_MS;
  if (isTooLong) runWork.blockedSince.delete(run);
  else runWork.blockedSince.set(run, { number, at });
  return isTooLong;
}

/** False, so that the step is tried again, until it has waited for too long. */
function waitForRoom(at: StepVisit): boolean {
  const { node, step } = at;
  if (!hasWaited(at)) return false;
  const reference = shownReference(at, step);
  const message = `step "${reference}": ${NO_ROOM}`;
  endStep(at, { state: STEP_FAILED, reason: 'no_room', message, nexts: node.nexts });
  return true;
}

function compiled(decision: Decision, { program, added }: Found): Program {
  if (program !== undefined) return decision.runWork.programs.of(program);
  const inside = compileNew(decision, added.text);
  invariant(typeof inside !== 'string', 'a definition was checked with the one around it');
  return inside;
}

/** The definition of the child, which becomes known if it stands in the one of its parent. */
export function takeStored(decision: Decision, { program, added }: Found): StoredProgram {
  if (program !== undefined) return program;
  const refused = register(decision, added);
  const stored = decision.state.programs.inline(added.namespace, added.hash);
  invariant(refused === undefined && stored !== undefined, 'a definition was checked before');
  return stored;
}

interface Child {
  readonly stored: StoredProgram;
  readonly input: PayloadRange;
  readonly relation: number;
  /** Slot of the step that starts it plus one; 0 for none. */
  readonly step: number;
  readonly correlation: string;
}

/** Starts a run for which there is room; returns its id. It has the priority of its parent. */
export function startChild(visit: Visit, child: Child): string {
  const { decision, run } = visit;
  const { state, events, runWork, outputs, now } = decision;
  const { table, steps } = state.runs;
  const { stored, step, relation, correlation, input } = child;
  const program = runWork.programs.of(stored);
  const event = events.childStarted;
  event.slot = table.nextFree();
  event.task = state.nextTask;
  event.parent = table.number[run];
  event.parentAt = table.startedAt[run];
  event.step = step;
  event.reference = step === 0 ? '' : shownReference(visit, step - 1);
  event.relation = relation;
  event.depth = table.depth[run] + 1;
  event.program = stored.place;
  event.base = steps.nextFrame(stored.scopes[0].arrivals.length);
  event.priority = table.priority[run];
  event.until = program.timeoutMs === 0 ? 0 : now + program.timeoutMs;
  event.correlation = correlation.toWellFormed();
  event.tags = '';
  const variables = runWork.utf8.encode(program.variables);
  Object.assign(event.variables, { bytes: variables, start: 0, end: variables.length });
  Object.assign(event.input, input);
  fillDefaults(decision, program.inputDefaults, event.input);
  event.dedupe.windowMs = 0;
  const id = runIdText({ submittedAt: now, partition: state.partition, number: event.task });
  const { slot } = event;
  decision.emit(event);
  runWork.blockedSince.delete(run);
  outputs.startedRuns.push(slot);
  return id;
}

export function correlationOf({ decision, run }: Visit): string {
  const { table, correlations } = decision.state.runs;
  return correlations.textAt(table.correlation[run]);
}
