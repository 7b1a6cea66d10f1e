import {
  blobOf,
  childIdOf,
  parentIdOf,
  type ReadonlyState,
  RUN_REASONS,
  RUN_RELATIONS,
  RUN_STATES,
  type Slot,
  STEP_STATES,
  type StepPlace,
} from '@sluice/core';
import type { TaskView } from '../../task/task-view.ts';
import type { RunStatus, RunSummary, StepState, StepView } from '../../workflow/run-types.ts';
import type { RunView } from '../../workflow/run-view.ts';
import { cursorOf, sortable } from '../server/in-process-lists.ts';
import type { InProcessServer } from '../server/in-process-server.ts';
import { runIdOf } from '../server/step-outline.ts';
import { payloadText } from '../server/task-views.ts';
import { placesOf } from './step-places.ts';

/** Steps that the answer for one run contains. */
const STEPS_MAX = 1000;

/** States of the core that answers do not tell apart. */
const SHOWN: Readonly<Record<string, StepState>> = {
  due: 'pending',
  stopping: 'running',
  reported: 'running',
};

/** A run as a client sees it. `read` returns the content of a blob. */
export function runView(
  server: InProcessServer,
  slot: Slot,
  read: (blob: string) => string,
): RunView {
  const { state } = server.partition;
  const { table } = state.runs;
  const { output, ...summary } = runSummary(state, slot);
  const blob = summary.outputBlob;
  const steps = stepViews(server, slot);
  return {
    ...summary,
    output: blob === undefined ? (output ?? null) : JSON.parse(read(blob)),
    variables:
      JSON.parse(payloadText(state, table.variables[slot], table.variablesLength[slot])) ?? {},
    steps: steps.slice(0, STEPS_MAX),
    stepsCursor: steps.length > STEPS_MAX ? cursorOf(sortable(STEPS_MAX)) : null,
  };
}

/** The run without its steps. */
export function runSummary(state: ReadonlyState, slot: Slot): RunSummary {
  const { table, correlations } = state.runs;
  const { name, version } = state.programs.at(table.program[slot]);
  const word = RUN_STATES[table.state[slot]];
  const hasEnded = table.endedAt[slot] !== 0;
  const hasOutput = hasEnded && word === 'succeeded';
  const result = payloadText(state, table.output[slot], table.outputLength[slot]);
  return {
    id: runIdOf(state, slot),
    workflow: name,
    version: version === 0 ? null : version,
    status: word === 'stopping' ? 'running' : word,
    ...(word === 'stopping' ? { endingAs: RUN_STATES[table.outcome[slot]] as RunStatus } : {}),
    reason: RUN_REASONS[table.reason[slot]],
    priority: table.priority[slot],
    correlationId: correlations.textAt(table.correlation[slot]) || null,
    parent: parentOf(state, slot),
    tags: state.texts.tags.at(table.tags[slot]) ?? {},
    startedAt: time(table.startedAt[slot]),
    endedAt: time(table.endedAt[slot]),
    counts: countsOf(state, slot),
    ...payload('input', payloadText(state, table.input[slot], table.inputLength[slot])),
    ...payload('output', hasOutput ? result : 'null'),
    error: hasEnded && !hasOutput ? JSON.parse(result) : null,
  };
}

function parentOf(state: ReadonlyState, slot: Slot): RunSummary['parent'] {
  const { table, parentReferences } = state.runs;
  const relation = RUN_RELATIONS[table.relation[slot]];
  if (relation === '') return null;
  const step = parentReferences.textAt(table.parentReference[slot]) || null;
  return { runId: parentIdOf(state, slot), step, relation };
}

/** All steps of a run, in the order in which a server lists them. */
export function stepViews(server: InProcessServer, run: Slot): StepView[] {
  return placesOf(server.partition.state, run).map((place) => stepView(server, place));
}

/** In an ended run nothing is pending: such a step was not reached, or its case was not taken. */
function stateOf({ runs }: ReadonlyState, slot: number): StepState {
  const word = STEP_STATES[runs.steps.state[slot]];
  const shown = SHOWN[word] ?? (word as StepState);
  const hasEnded = runs.table.endedAt[runs.steps.run[slot]] !== 0;
  return shown === 'pending' && hasEnded ? 'skipped' : shown;
}

function countsOf(state: ReadonlyState, run: Slot): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { slot } of placesOf(state, run)) {
    const word = stateOf(state, slot);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

function stepView(server: InProcessServer, place: StepPlace): StepView {
  const { slot, reference, kind, name } = place;
  const { state } = server.partition;
  const { steps } = state.runs;
  const task = (steps.link[slot] - 1) as Slot;
  const of = {
    reference,
    type: kind,
    name,
    state: stateOf(state, slot),
    reason: RUN_REASONS[steps.reason[slot]],
    childRunId: childIdOf(state, slot) || null,
  };
  return { ...of, ...(task >= 0 ? ofTask(server.view(task)) : withoutTask(state, slot)) };
}

const FAILURES: readonly StepState[] = [
  'failed',
  'timed_out',
  'cancelled',
  'completed_with_errors',
];

/** The part of a step without a task: what it gave is an output or an error, as its state says. */
function withoutTask(state: ReadonlyState, slot: number) {
  const { steps } = state.runs;
  const result = payloadText(state, steps.output[slot], steps.outputLength[slot]);
  const hasFailed = FAILURES.includes(stateOf(state, slot));
  return {
    attempt: 0,
    taskId: null,
    // Most of these steps end when they begin.
    startedAt: time(steps.startedAt[slot] || steps.endedAt[slot]),
    endedAt: time(steps.endedAt[slot]),
    ...payload('input', payloadText(state, steps.input[slot], steps.inputLength[slot])),
    ...payload('output', hasFailed ? 'null' : result),
    error: hasFailed && blobOf(result) === undefined ? JSON.parse(result) : null,
  };
}

/** The part of a step that its task tells. */
function ofTask(task: TaskView) {
  const newest = task.attempts.at(-1);
  return {
    attempt: task.attempt,
    taskId: task.id,
    startedAt: newest?.startedAt ?? newest?.leasedAt ?? null,
    endedAt: task.endedAt,
    ...(task.inputBlob === undefined ? { input: task.input } : { inputBlob: task.inputBlob }),
    ...(task.outputBlob === undefined ? { output: task.output } : { outputBlob: task.outputBlob }),
    error: task.error,
  };
}

/** A payload, or the blob that holds it. */
function payload(field: 'input' | 'output', text: string): object {
  const blob = blobOf(text);
  return blob === undefined ? { [field]: JSON.parse(text) } : { [`${field}Blob`]: blob };
}

function time(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
