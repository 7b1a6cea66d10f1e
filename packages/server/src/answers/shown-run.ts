import { blobOf, type Tags } from '@sluice/core';
import { hideSecretsIn } from '../base/exec-envelope.ts';
import { timeText } from '../base/time-text.ts';
import { payloadField, type ShownTask } from './shown-task.ts';

/** Maximum number of steps, and characters of them, that the answer for one run contains. */
const STEPS_SHOWN_MAX = 1000;
const STEP_CHARACTERS_MAX = 1024 * 1024;

/** What an answer shows of a run, from whatever source. A time is 0 when there is none. */
interface ShownRun {
  readonly id: string;
  readonly workflow: string;
  /** 0 for a definition that came with the run. */
  readonly version: number;
  /** State of the core. */
  readonly state: string;
  /** State that a stopping run will end with. */
  readonly outcome: string;
  readonly reason: string;
  readonly priority: number;
  readonly correlation: string;
  /** The run that started it, if one did. */
  readonly parent: ShownParent | undefined;
  readonly tags: Tags;
  readonly startedAt: number;
  readonly endedAt: number;
  /** JSON texts; empty stands for null. */
  readonly variables: string;
  readonly input: string;
  /** Output, or the error of a run that did not succeed. */
  readonly result: string;
}

interface ShownParent {
  readonly runId: string;
  /** Reference of the step that started it; empty if none did. */
  readonly step: string;
  readonly relation: string;
}

/** What an answer shows of a step. */
export interface ShownStep {
  readonly reference: string;
  readonly type: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string;
  readonly attempt: number;
  /** Empty without a task. */
  readonly taskId: string;
  /** The run that it started; absent without one. */
  readonly childRunId?: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly input: string;
  readonly output: string;
  readonly error: string;
}

/** A run whose steps are rendered on demand. */
export interface RunSource {
  readonly run: ShownRun;
  readonly steps: number;
  /** State of the step at this place, as the core names it. */
  stateAt(place: number): string;
  stepAt(place: number): ShownStep;
}

/** The whole run as JSON text, with as many steps as fit. */
export function runJson(source: RunSource): string {
  const { items, next } = stepsFrom(source, 0, STEPS_SHOWN_MAX);
  const cursor = next === undefined ? 'null' : `"${stepCursor(next)}"`;
  const variables = source.run.variables || '{}';
  const steps = `"variables":${variables},"steps":[${items.join()}],"stepsCursor":${cursor}`;
  return `${runSummaryJson(source).slice(0, -1)},${steps}}`;
}

/** The run without its steps, as JSON text. */
export function runSummaryJson(source: RunSource): string {
  const { run } = source;
  const isStopping = run.state === 'stopping';
  const envelope = JSON.stringify({
    id: run.id,
    workflow: run.workflow,
    version: run.version === 0 ? null : run.version,
    status: statusOf(run.state),
    ...(isStopping ? { endingAs: run.outcome } : {}),
    reason: run.reason,
    priority: run.priority,
    correlationId: run.correlation || null,
    parent: run.parent === undefined ? null : { ...run.parent, step: run.parent.step || null },
    tags: run.tags,
    startedAt: time(run.startedAt),
    endedAt: time(run.endedAt),
    counts: countsOf(source),
  });
  const hasEnded = run.endedAt !== 0;
  const hasOutput = hasEnded && run.state === 'succeeded';
  const payloads = payloadFields({
    input: run.input,
    output: hasOutput ? run.result : '',
    error: hasEnded && !hasOutput ? run.result : '',
  });
  return `${envelope.slice(0, -1)},${payloads}}`;
}

export interface ShownSteps {
  readonly items: readonly string[];
  /** Place of the next step; undefined when there is none. */
  readonly next: number | undefined;
}

/** Steps from a place on, as JSON texts. The first one always fits. */
export function stepsFrom(source: RunSource, from: number, limit: number): ShownSteps {
  const items: string[] = [];
  let characters = 0;
  let place = from;
  while (place < source.steps && items.length < limit && characters < STEP_CHARACTERS_MAX) {
    const step = source.stepAt(place);
    const json = stepJson({ ...step, state: stepStateOf(step.state, source) });
    characters += json.length;
    items.push(json);
    place += 1;
  }
  return { items, next: place < source.steps ? place : undefined };
}

function stepCursor(place: number): string {
  return Buffer.from(String(place)).toString('base64url');
}

/** The part of a step that its task tells. */
export function stepOfTask(
  task: ShownTask,
): Omit<ShownStep, 'reference' | 'type' | 'name' | 'state' | 'reason'> {
  const hasOutput = task.state === 'succeeded';
  const newest = task.attempts.at(-1);
  return {
    attempt: task.attempt,
    taskId: task.id,
    startedAt: newest?.startedAt || newest?.leasedAt || 0,
    endedAt: task.endedAt,
    input: task.input,
    output: hasOutput ? task.result : '',
    error: hasOutput || task.isResultOld ? '' : task.result,
  };
}

/** The part of a step without a task: what it gave is an output or an error, as its state says. */
export function stepWithoutTask(step: {
  readonly state: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly input: string;
  readonly result: string;
}): Omit<ShownStep, 'reference' | 'type' | 'name' | 'state' | 'reason' | 'taskId'> {
  const { endedAt, input, result } = step;
  const hasFailed = FAILURES.includes(step.state);
  return {
    attempt: 0,
    // Most of these steps end when they begin.
    startedAt: step.startedAt || endedAt,
    endedAt,
    input,
    output: hasFailed ? '' : result,
    error: hasFailed ? result : '',
  };
}

const FAILURES = ['failed', 'timed_out', 'cancelled', 'completed_with_errors'];

/** States that only the server tells apart. */
const SHOWN_STATES: Readonly<Record<string, string>> = {
  due: 'pending',
  stopping: 'running',
  reported: 'running',
};

/** In an ended run nothing is pending: such a step was not reached, or its case was not taken. */
function stepStateOf(state: string, { run }: RunSource): string {
  const shown = SHOWN_STATES[state] ?? state;
  return shown === 'pending' && run.endedAt !== 0 ? 'skipped' : shown;
}

export function statusOf(state: string): string {
  return state === 'stopping' ? 'running' : state;
}

function countsOf(source: RunSource): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let place = 0; place < source.steps; place++) {
    const state = stepStateOf(source.stateAt(place), source);
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

function stepJson(step: ShownStep): string {
  const envelope = JSON.stringify({
    reference: step.reference,
    type: step.type,
    name: step.name,
    state: step.state,
    reason: step.reason,
    attempt: step.attempt,
    taskId: step.taskId || null,
    childRunId: step.childRunId || null,
    startedAt: time(step.startedAt),
    endedAt: time(step.endedAt),
  });
  return `${envelope.slice(0, -1)},${payloadFields(step)}}`;
}

interface Payloads {
  readonly input: string;
  readonly output: string;
  readonly error: string;
}

function payloadFields({ input, output, error }: Payloads): string {
  // An error is never a blob, and a reference to one is no JSON.
  const shownError = blobOf(error) === undefined ? error || 'null' : 'null';
  const fields = [
    payloadField('input', hideSecretsIn(input) || 'null'),
    payloadField('output', output || 'null'),
    `"error":${shownError}`,
  ];
  return fields.join();
}

function time(ms: number): string | null {
  return ms === 0 ? null : timeText(ms);
}
