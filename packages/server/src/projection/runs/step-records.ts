import { branchesOf, type Event, RESET_KINDS, STEP_STATES } from '@sluice/core';
import type { ProgramOutline } from '../../base/step-outline.ts';
import type { RunRecord, StepRecord } from './run-record.ts';

/** The steps in the record of a run: those that its definition has, and those that come later. */

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

export function freshSteps({ steps, sizes }: ProgramOutline, { scope, base, suffix }: Frame) {
  const first = sizes.slice(0, scope).reduce((sum, size) => sum + size, 0);
  return steps.slice(first, first + sizes[scope]).map(({ reference, kind, name }, index) => {
    const outline = { reference: reference + suffix, kind, name, slot: base + index };
    return { ...outline, ...UNTOUCHED };
  });
}

/** Places of steps by slot, the newest of each. */
const placesBySlot = new WeakMap<RunRecord, Map<number, number>>();

/** The record has other steps. */
export function forgetPlaces(record: RunRecord): void {
  placesBySlot.delete(record);
}

export function stepAt(record: RunRecord, slot: number): StepRecord | undefined {
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
  const fresh = freshSteps(program, { scope, base, suffix });
  // Iterations that had left memory stay in the record until a loop that begins again has them.
  const again = new Set(fresh.map((step) => step.reference));
  keepSteps(record, (step) => !again.has(step.reference));
  record.steps.push(...fresh);
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
  // An iteration that left memory before may have had the same slots: the newest step is meant.
  const gone = new Set<StepRecord | undefined>();
  for (let at = 0; at < event.frames.length; at += 2) {
    const [base, size] = event.frames.slice(at, at + 2);
    for (let slot = base; slot < base + size; slot++) gone.add(stepAt(record, slot));
  }
  event.steps.forEach((slot, at) => {
    const step = stepAt(record, slot);
    if (step === undefined) return;
    if (RESET_KINDS[event.kinds[at]] === 'again') Object.assign(step, UNTOUCHED);
    else Object.assign(step, { state: STEP_STATES.indexOf('running'), endedAt: 0, result: '' });
  });
  if (gone.size === 0) return;
  keepSteps(record, (step) => !gone.has(step));
}

/** Leaves out other steps, if there are any. */
function keepSteps(record: RunRecord, isKept: (step: StepRecord) => boolean): void {
  let kept = 0;
  for (const step of record.steps) {
    if (!isKept(step)) continue;
    record.steps[kept] = step;
    kept += 1;
  }
  record.steps.length = kept;
  placesBySlot.delete(record);
}
