import {
  blobOf,
  type Event,
  namespaceOf,
  type PayloadRange,
  RUN_REASONS,
  RUN_STATES,
  STEP_KINDS,
  STEP_STATES,
  TASK_STATES,
} from '@sluice/core';
import type { ProgramOutline, StepOutline } from '../../base/step-outline.ts';
import { UTF8 } from '../../base/utf8.ts';
import { blobName } from '../../blobs/blob-files.ts';
import { forgetPlaces, freshSteps, stepAt } from './step-records.ts';

/** A definition, as far as rows of its runs need it. Runs name it by its place. */
export interface ProjectedProgram extends ProgramOutline {
  readonly place: number;
  readonly namespace: string;
  readonly name: string;
  /** 0 for a definition that came with a run. */
  readonly version: number;
}

/** A step of a run. What its task knows is in the row of the task. */
export interface StepRecord extends StepOutline {
  /** Its slot in memory. A slot may be used again, by an iteration of another loop. */
  readonly slot: number;
  /** Numbers of the core. */
  state: number;
  reason: number;
  /** Number of its task and the time of its submit; 0 without a task. */
  task: number;
  taskSubmittedAt: number;
  /** Number of the run that it started and the time of its start; 0 without one. */
  child: number;
  childStartedAt: number;
  endedAt: number;
  /** For a step without a task. `result` is its output or its error. */
  startedAt: number;
  input: string;
  result: string;
}

/**
 * Everything that the log contains about one run. Runs and tasks share one sequence of numbers, and
 * their rows share one table. So a run has the columns of a task:
 *
 * - `queue` is a key that no queue has, made of namespace and workflow.
 * - `parent` is the correlation id, `result` the output or error.
 * - `state` is the state of a task with the same name.
 */
export interface RunRecord {
  readonly number: number;
  readonly submittedAt: number;
  readonly queue: string;
  readonly parent: string;
  readonly tags: string;
  readonly input: string;
  result: string;
  state: number;
  endedAt: number;
  /** Retention may remove ended runs: none is a dead letter. */
  readonly isDiscarded: true;
  readonly version: number;
  readonly priority: number;
  /** The run that started it, if one did. */
  readonly startedBy?: RunStarter;
  /** Place of its definition. */
  readonly program: number;
  /** Numbers of the core. */
  runState: number;
  outcome: number;
  reason: number;
  variables: string;
  readonly steps: StepRecord[];
  /** Its states with their times, oldest first: numbers of the core. */
  readonly changes: (readonly [at: number, state: number])[];
}

/** The run that started another one. */
export interface RunStarter {
  readonly run: number;
  readonly startedAt: number;
  /** Reference of its step; empty if no step did. */
  readonly step: string;
  /** Number of the core. */
  readonly relation: number;
}

/** Somebody may pause and resume a run again and again. */
const CHANGES_MAX = 1000;

function noteChange({ changes, runState }: RunRecord, at: number): void {
  if (changes.length < CHANGES_MAX) changes.push([at, runState]);
}

const MARK = '#runs';

/** What a search takes for the namespace when it means runs. No namespace contains the mark. */
export function runNamespace(namespace: string): string {
  return `${namespace}${MARK}`;
}

export function runKey(namespace: string, workflow: string): string {
  return `${runNamespace(namespace)}/${workflow}`;
}

export function isRunKey(key: string): boolean {
  return namespaceOf(key).endsWith(MARK);
}

/** The namespace of a run. */
export function namespaceOfRun({ queue }: Pick<RunRecord, 'queue'>): string {
  return namespaceOf(queue).slice(0, -MARK.length);
}

export function isRun(record: object): record is RunRecord {
  return 'runState' in record;
}

type ChildStarted = Extract<Event, { type: 'child_started' }>;
type Started = Extract<Event, { type: 'run_started' }> | ChildStarted;
type Readmitted = Extract<Event, { type: 'run_readmitted' }>;

export function beginRun(
  event: Started | Readmitted,
  program: ProjectedProgram,
  at: number,
): RunRecord {
  const isStarted = event.type !== 'run_readmitted';
  return {
    number: event.task,
    submittedAt: isStarted ? at : event.startedAt,
    queue: runKey(program.namespace, program.name),
    parent: event.correlation,
    tags: event.tags,
    input: textOf(event.input),
    result: '',
    state: stateOf('running'),
    endedAt: 0,
    isDiscarded: true,
    version: program.version,
    priority: event.priority,
    program: event.program,
    runState: RUN_STATES.indexOf('running'),
    outcome: 0,
    reason: 0,
    variables: textOf(event.variables),
    steps: freshSteps(program, { scope: 0, base: event.base, suffix: '' }),
    changes: [[at, RUN_STATES.indexOf('running')]],
    ...(event.type !== 'run_started' && event.parent !== 0 ? { startedBy: starterOf(event) } : {}),
  };
}

function starterOf(event: ChildStarted | Readmitted): RunStarter {
  const { parent, parentAt, reference, relation } = event;
  return { run: parent, startedAt: parentAt, step: reference, relation };
}

/** A step of this run started another run. */
export function noteChild(record: RunRecord, event: ChildStarted, at: number): void {
  const step = stepAt(record, event.step - 1);
  if (step === undefined) return;
  step.child = event.task;
  step.childStartedAt = at;
}

interface Readmission {
  readonly event: Readmitted;
  readonly program: ProjectedProgram;
  readonly at: number;
}

/** A run that had left memory begins anew. Its history goes on. */
export function readmitRun(record: RunRecord, { event, program, at }: Readmission): void {
  const { changes } = record;
  Object.assign(record, beginRun(event, program, at), { changes });
  forgetPlaces(record);
  noteChange(record, at);
}

type RunRevived = Extract<Event, { type: 'run_revived' }>;

/** A run that had ended goes on. */
export function reviveRun(record: RunRecord, event: RunRevived, at: number): void {
  const running = RUN_STATES.indexOf('running');
  Object.assign(record, { state: stateOf('running'), runState: running, endedAt: 0 });
  Object.assign(record, { outcome: 0, reason: 0, result: '' });
  if (event.isRestarted) record.variables = textOf(event.variables);
  noteChange(record, at);
}

type StepSubmitted = Extract<Event, { type: 'step_submitted' }>;

/** The task of a step was submitted. */
export function noteStepTask(record: RunRecord, event: StepSubmitted, at: number): void {
  const step = stepAt(record, event.step);
  if (step === undefined) return;
  step.state = STEP_STATES.indexOf('running');
  step.task = event.task;
  step.taskSubmittedAt = at;
}

export type RunChange = Extract<
  Event,
  {
    type:
      | 'step_started'
      | 'step_ended'
      | 'step_stopping'
      | 'step_skip_planned'
      | 'run_changed'
      | 'run_stopping'
      | 'run_ended';
  }
>;

const SET_VARIABLE = STEP_KINDS.indexOf('SET_VARIABLE');

/** Applies one more event to a run, as the core's `apply` does to the state. */
export function advanceRun(record: RunRecord, event: RunChange, at: number): void {
  switch (event.type) {
    case 'step_started':
      return startStep(record, event, at);
    case 'run_changed':
      record.runState = event.state;
      record.state = stateOf(RUN_STATES[event.state]);
      noteChange(record, at);
      return;
    case 'step_stopping': {
      const step = stepAt(record, event.slot);
      if (step !== undefined) step.state = STEP_STATES.indexOf('stopping');
      return;
    }
    case 'step_skip_planned': {
      const step = stepAt(record, event.slot);
      if (step !== undefined) step.reason = RUN_REASONS.indexOf('skipped_by_call');
      return;
    }
    case 'step_ended':
      return endStep(record, event, at);
    case 'run_stopping':
      record.runState = RUN_STATES.indexOf('stopping');
      record.outcome = event.outcome;
      record.reason = event.reason;
      record.result = textOf(event.output);
      noteChange(record, at);
      return;
    case 'run_ended':
      record.runState = event.state;
      record.reason = event.reason;
      record.state = stateOf(RUN_STATES[event.state]);
      record.endedAt = at;
      if (event.hasOutput) record.result = textOf(event.output);
      noteChange(record, at);
      return;
  }
}

type StepStarted = Extract<Event, { type: 'step_started' }>;

function startStep(record: RunRecord, event: StepStarted, at: number): void {
  const step = stepAt(record, event.slot);
  if (step === undefined) return;
  step.state = STEP_STATES.indexOf('running');
  if (step.startedAt === 0) step.startedAt = at;
  if (event.input.start !== event.input.end) step.input = textOf(event.input);
}

type StepEnded = Extract<Event, { type: 'step_ended' }>;

function endStep(record: RunRecord, event: StepEnded, at: number): void {
  const step = stepAt(record, event.slot);
  if (step === undefined) return;
  step.state = event.state;
  step.reason = event.reason;
  step.endedAt = at;
  if (step.task !== 0) return;
  step.result = textOf(event.output);
  const isSet = event.kind === SET_VARIABLE && event.state === STEP_STATES.indexOf('succeeded');
  if (isSet) record.variables = step.result;
}

/** Names of the blobs that the payloads of the run and of its steps are. */
export function blobsNamedByRun(record: RunRecord): string[] {
  const namespace = namespaceOfRun(record);
  // A SUB_WORKFLOW has the output of its run, which may be a blob.
  const outputs = record.steps.map(({ result }) => result);
  return [record.input, record.result, ...outputs].flatMap((payload) => {
    const sha256 = blobOf(payload);
    return sha256 === undefined ? [] : [blobName({ namespace, sha256 })];
  });
}

/** Memory of a step. */
const STEP_BYTES = 200;

/** Its size in memory, without input and result. */
export function runBytes({ variables, steps }: RunRecord): number {
  const outputs = steps.reduce((sum, { input, result }) => sum + input.length + result.length, 0);
  return variables.length + outputs + STEP_BYTES * steps.length;
}

function stateOf(name: string): number {
  return (TASK_STATES as readonly string[]).indexOf(name);
}

function textOf({ bytes, start, end }: PayloadRange): string {
  return start === end ? '' : UTF8.decode(bytes.subarray(start, end));
}
