import { isDeepStrictEqual } from 'node:util';
import { type Event, RUN_STATES, runIdText, STEP_STATES } from '@sluice/core';
import { flatten, type ModelDefinition, suffixOf } from '@sluice/core/testing/runs/model-steps';
import { takeBack } from '@sluice/core/testing/runs/model-taking-back';
import { RunModel } from '@sluice/core/testing/runs/run-model';
import { plainIds } from '@sluice/core/testing/runs/shown-runs';
import { BRANCH } from '../../clients/draw-workflow.ts';
import { readPayload } from '../../server/sim-blobs.ts';
import { textOf } from '../story/task-story.ts';

export type Started = Extract<Event, { type: 'run_started' | 'child_started' }>;

/** A step that the log knows. */
export interface StepStory {
  /** Number of its task; 0 without one. */
  readonly task: number;
  /** Number of the run that it started; 0 without one. */
  child: number;
  /** When a WAIT is over; 0 for other steps. */
  readonly until: number;
  /** Empty while it runs. */
  state: string;
  output: unknown;
  /** Iterations that a loop has begun. */
  iteration: number;
}

/** How the log enters a step. */
export interface Entering {
  readonly slot: number;
  /** Number of its task; 0 without one. */
  readonly task?: number;
  readonly until?: number;
}

/**
 * What the log tells about one run, beside a naive interpreter of its definition. The interpreter
 * begins whatever may begin at once; the log may take a while.
 */
export class RunStory {
  readonly number: number;
  readonly id: string;
  readonly slot: number;
  /** Name and version of its definition. */
  readonly program: string;
  readonly model: RunModel;
  /** Whether it may have to wait for room: loops, forks, other runs and deliveries do. */
  readonly waitsForRoom: boolean;
  /** Steps that the log entered, by reference. */
  readonly steps = new Map<string, StepStory>();
  /** Steps that the interpreter entered and the log has not, with the world's time of that. */
  readonly due = new Map<string, number>();
  /** References of steps that the log entered, by slot. */
  readonly places = new Map<number, string>();
  /** Steps that wait for values in blobs before they begin. */
  readonly asking = new Set<string>();
  /** Branches of dynamic forks that are passed over. */
  readonly skippedBranches = new Set<string>();
  /** Steps that started runs for which nobody waits, while they begin. */
  readonly starts = new Set<string>();
  /** Whether a step that the run can do without failed. */
  hasFailure = false;
  /** Undefined when no step has set any. */
  variables: Record<string, unknown> | undefined;
  state = 'running';
  /** Fixed while it stops. */
  outcome = '';
  /** Reference of the step that decided it; empty for none. */
  decider = '';
  endedAt = 0;
  output = '';
  isForgotten = false;
  /** Answers may show what it was before. */
  wasRevived = false;

  /** The run whose step waits for this one, and the reference of that step. */
  readonly parent: { readonly run: RunStory; readonly reference: string } | undefined;

  constructor(event: Started, definition: ModelDefinition, { program, at, parent }: RunPlace) {
    this.number = event.task;
    this.id = runIdText({ submittedAt: at, partition: 0, number: event.task });
    this.slot = event.slot;
    this.program = program;
    this.parent = parent;
    const text = JSON.stringify(definition);
    this.waitsForRoom = /"(DO_WHILE|FORK_JOIN_DYNAMIC|\w+_WORKFLOW|CALLBACK)"/.test(text);
    const input = parsePayload(textOf(event.input));
    // The interpreter of the parent has begun the child.
    const begun = parent?.run.model.entered.get(parent.reference)?.child;
    this.model = begun ?? new RunModel(definition, input, at, { isTold: true, branch: BRANCH });
  }

  /** Notes what the interpreter entered by now. */
  noteDue(now: number): void {
    if (this.state !== 'running') return;
    for (const reference of this.model.entered.keys()) {
      if (!this.steps.has(reference) && !this.due.has(reference)) this.due.set(reference, now);
    }
  }

  /** What may enter has been able to since now at the earliest. */
  postponeDue(now: number): void {
    for (const [reference, since] of this.due) this.due.set(reference, Math.max(since, now));
  }

  enter(reference: string, { slot, task = 0, until = 0 }: Entering): void {
    this.places.set(slot, reference);
    this.due.delete(reference);
    this.starts.delete(reference);
    this.asking.delete(reference);
    const blank = { child: 0, state: '', output: undefined, iteration: 0 };
    this.steps.set(reference, { task, until, ...blank });
  }

  /** The interpreter goes back to what the log has begun. */
  takeBack(): void {
    const { hasFailure, variables, steps } = this;
    takeBack(this.model, { isPaused: this.state === 'paused', hasFailure, variables, steps });
    this.due.clear();
  }

  /** A loop ended that waited for room: what the interpreter began in it has not begun. */
  leaveLoop(loop: string): void {
    const { model } = this;
    const inside = flatten(model.values.find(loop)?.loopOver ?? []);
    const names = inside.map(({ taskReferenceName: name }) => `${name}${suffixOf(loop)}__`);
    for (const [key, { branches = [] }] of model.entered) {
      if (this.steps.has(key) || !names.some((name) => key.startsWith(name))) continue;
      for (const each of [key, ...branches.map((branch) => branch + suffixOf(key))]) {
        model.entered.delete(each);
        this.due.delete(each);
      }
    }
    const begun = this.steps.get(loop)?.iteration ?? 0;
    const entered = model.entered.get(loop);
    if (entered !== undefined && begun === 0) delete entered.iteration;
  }

  /** Steps whose tasks have not ended by the log. */
  get live(): string[] {
    return [...this.steps].filter(([, { state }]) => state === '').map(([reference]) => reference);
  }

  get isOver(): boolean {
    return this.endedAt !== 0;
  }
}

interface RunPlace {
  readonly program: string;
  readonly at: number;
  readonly parent: RunStory['parent'];
}

export function runStateName(state: number): string {
  return RUN_STATES[state];
}

export function stepStateName(state: number): string {
  return STEP_STATES[state];
}

/** How a run ends when the task of a step that it cannot do without ends so. */
export const OUTCOMES: Readonly<Record<string, string>> = {
  failed: 'failed',
  timed_out: 'timed_out',
  expired: 'timed_out',
  cancelled: 'cancelled',
};

/** Whether the outcome of a run, or of its interpreter, is open. */
export function isGoingOn({ status }: { readonly status: string }): boolean {
  return status === 'running' || status === 'paused';
}

export function nameOf({ number }: RunStory, reference: string): string {
  return `step ${reference} of run ${number}`;
}

/** The value of a payload, which may be a blob; null for none. */
export function parsePayload(payload: string): unknown {
  return JSON.parse(readPayload(payload) || 'null');
}

/** Whether a JSON text says the same as a value. The interpreter knows no ids of runs. */
export function isSame(text: string, value: unknown): boolean {
  const plain = JSON.parse(JSON.stringify(value ?? null)) as unknown;
  return isDeepStrictEqual(plainIds(parsePayload(text)), plain);
}

/** The output of an INLINE, a SWITCH or a JSON_JQ_TRANSFORM. */
interface Given {
  readonly result?: unknown;
  readonly resultList?: readonly unknown[];
  readonly evaluationResult?: readonly unknown[];
}

/** What a script gave, from the output of its step. */
export function givenBy(kind: string, text: string): unknown {
  const { result, resultList, evaluationResult = [] } = JSON.parse(text || '{}') as Given;
  if (kind === 'DO_WHILE') return false;
  return kind === 'SWITCH' ? evaluationResult[0] : (resultList ?? result);
}
