import {
  blobOf,
  branchesOf,
  type Event,
  namespaceOf,
  type PayloadRange,
  RESET_KINDS,
  RUN_REASONS,
  RUN_STATES,
  STEP_KINDS,
  STEP_STATES,
  TASK_STATES,
} from '@sluice/core';
import type { ProgramOutline, StepOutline } from '../../base/step-outline.ts';
import { UTF8 } from '../../base/utf8.ts';
import { blobName } from '../../blobs/blob-files.ts';

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

export function beginRun(event: Started, program: ProjectedProgram, at: number): RunRecord {
  return {
    number: event.task,
    submittedAt: at,
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
    ...(event.type === 'child_started' ? { startedBy: starterOf(event) } : {}),
  };
}

function starterOf({ parent, parentAt, reference, relation }: ChildStarted): RunStarter {
  return { run: parent, startedAt: parentAt, step: reference, relation };
}

/** A step of this run started another run. */
export function noteChild(record: RunRecord, event: ChildStarted, at: number): void {
  const step = stepAt(record, event.step - 1);
  if (step === undefined) return;
  step.child = event.task;
  step.childStartedAt = at;
}

interface Frame {
  readonly scope: number;
  /** Slot of its first step. */
  readonly base: number;
  /** Iterations of the loops around it. */
  readonly suffix: string;
}

const UNTOUCHED = {
  state: 0,
  reason: 0,
  task: 0,
  taskSubmittedAt: 0,
  child: 0,
  childStartedAt: 0,
  startedAt: 0,
  endedAt: 0,
  input: '',
  result: '',
};

function freshSteps({ steps, sizes }: ProgramOutline, { scope, base, suffix }: Frame) {
  const first = sizes.slice(0, scope).reduce((sum, size) => sum + size, 0);
  return steps.slice(first, first + sizes[scope]).map(({ reference, kind, name }, index) => {
    const outline = { reference: reference + suffix, kind, name, slot: base + index };
    return { ...outline, ...UNTOUCHED };
  });
}

/** Places of steps by slot, the newest of each. */
const placesBySlot = new WeakMap<RunRecord, Map<number, number>>();

function stepAt(record: RunRecord, slot: number): StepRecord | undefined {
  let places = placesBySlot.get(record);
  if (places === undefined) {
    places = new Map(record.steps.map((step, place) => [step.slot, place]));
    placesBySlot.set(record, places);
  }
  const place = places.get(slot);
  return place === undefined ? undefined : record.steps[place];
}

type FrameOpened = Extract<Event, { type: 'frame_opened' }>;

/** A loop began an iteration: the run has more steps. */
export function openFrame(record: RunRecord, event: FrameOpened, program: ProgramOutline): void {
  const loop = stepAt(record, event.slot);
  if (loop === undefined) return;
  loop.state = STEP_STATES.indexOf('running');
  const [reference] = loop.reference.split('__');
  const suffix = `${loop.reference.slice(reference.length)}__${event.iteration}`;
  const { scope, base } = event;
  record.steps.push(...freshSteps(program, { scope, base, suffix }));
  placesBySlot.delete(record);
}

type BranchesOpened = Extract<Event, { type: 'branches_opened' }>;

/** A dynamic fork is over, and its branches are steps of the run. */
export function openBranches(record: RunRecord, event: BranchesOpened, at: number): void {
  const fork = stepAt(record, event.slot);
  if (fork === undefined) return;
  fork.state = STEP_STATES.indexOf('succeeded');
  fork.endedAt = at;
  const [name] = fork.reference.split('__');
  const suffix = fork.reference.slice(name.length);
  const branches = branchesOf(fork.input).map(({ reference, name, kind }, index) => {
    const outline = { reference: reference + suffix, kind, name };
    return { ...outline, slot: event.base + index, ...UNTOUCHED };
  });
  for (const branch of branches) record.steps.push(branch);
  placesBySlot.delete(record);
}

type StepsReset = Extract<Event, { type: 'steps_reset' }>;

/** Steps of a run that goes on begin again; those of loops and forks that do so are gone. */
export function resetSteps(record: RunRecord, event: StepsReset): void {
  const gone = new Set<number>();
  for (let at = 0; at < event.frames.length; at += 2) {
    const [base, size] = event.frames.slice(at, at + 2);
    for (let slot = base; slot < base + size; slot++) gone.add(slot);
  }
  event.steps.forEach((slot, at) => {
    const step = stepAt(record, slot);
    if (step === undefined) return;
    if (RESET_KINDS[event.kinds[at]] === 'again') Object.assign(step, UNTOUCHED);
    else Object.assign(step, { state: STEP_STATES.indexOf('running'), endedAt: 0, result: '' });
  });
  if (gone.size === 0) return;
  let kept = 0;
  for (const step of record.steps) {
    if (gone.has(step.slot)) continue;
    record.steps[kept] = step;
    kept += 1;
  }
  record.steps.length = kept;
  placesBySlot.delete(record);
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
