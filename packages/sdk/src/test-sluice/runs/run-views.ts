import {
  blobOf,
  type ReadonlyState,
  RUN_REASONS,
  RUN_STATES,
  type Slot,
  STEP_STATES,
  type StoredProgram,
} from '@sluice/core';
import type { TaskView } from '../../task/task-view.ts';
import type { RunStatus, RunSummary, StepState, StepView } from '../../workflow/run-types.ts';
import type { RunView } from '../../workflow/run-view.ts';
import type { InProcessServer } from '../server/in-process-server.ts';
import { runIdOf, stepsOf } from '../server/step-outline.ts';
import { payloadText } from '../server/task-views.ts';

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
  return {
    ...summary,
    output: blob === undefined ? (output ?? null) : JSON.parse(read(blob)),
    variables:
      JSON.parse(payloadText(state, table.variables[slot], table.variablesLength[slot])) ?? {},
    steps: stepViews(server, slot).slice(0, STEPS_MAX),
    stepsCursor: null,
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
    tags: state.texts.tags.at(table.tags[slot]) ?? {},
    startedAt: time(table.startedAt[slot]),
    endedAt: time(table.endedAt[slot]),
    counts: countsOf(state, slot),
    ...payload('input', payloadText(state, table.input[slot], table.inputLength[slot])),
    ...payload('output', hasOutput ? result : 'null'),
    error: hasEnded && !hasOutput ? JSON.parse(result) : null,
  };
}

/** All steps of a run, in the order of the definition. */
export function stepViews(server: InProcessServer, run: Slot): StepView[] {
  const { state } = server.partition;
  return stepsOf(programOf(state, run)).map((_, place) => stepView(server, run, place));
}

/** Tasks of the run that have not ended. */
export function openTasks(state: ReadonlyState, run: Slot): Slot[] {
  const { table, steps } = state.runs;
  const base = table.base[run];
  return stepsOf(programOf(state, run)).flatMap((_, place) => {
    const isOpen = stateOf(state, run, place) === 'running';
    return isOpen && steps.link[base + place] > 0 ? [(steps.link[base + place] - 1) as Slot] : [];
  });
}

function programOf({ runs, programs }: ReadonlyState, run: Slot): StoredProgram {
  return programs.at(runs.table.program[run]);
}

function stateOf({ runs: { table, steps } }: ReadonlyState, run: Slot, place: number): StepState {
  const word = STEP_STATES[steps.state[table.base[run] + place]];
  return SHOWN[word] ?? (word as StepState);
}

function countsOf(state: ReadonlyState, run: Slot): Record<string, number> {
  const counts: Record<string, number> = {};
  stepsOf(programOf(state, run)).forEach((_, place) => {
    const word = stateOf(state, run, place);
    counts[word] = (counts[word] ?? 0) + 1;
  });
  return counts;
}

function stepView(server: InProcessServer, run: Slot, place: number): StepView {
  const { state } = server.partition;
  const { table, steps } = state.runs;
  const slot = table.base[run] + place;
  const { reference, kind, name } = stepsOf(programOf(state, run))[place];
  const task = (steps.link[slot] - 1) as Slot;
  const of = {
    reference,
    type: kind,
    name,
    state: stateOf(state, run, place),
    reason: RUN_REASONS[steps.reason[slot]],
  };
  if (task >= 0) return { ...of, ...ofTask(server.view(task)) };
  // A step without a task ends when it begins.
  const endedAt = time(steps.endedAt[slot]);
  const output = payloadText(state, steps.output[slot], steps.outputLength[slot]);
  return {
    ...of,
    attempt: 0,
    taskId: null,
    startedAt: endedAt,
    endedAt,
    input: null,
    ...payload('output', output),
    error: null,
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
