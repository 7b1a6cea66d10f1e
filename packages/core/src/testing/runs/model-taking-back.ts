import type { Entered, StepState } from './entered-step.ts';
import { isDynamicFork } from './model-branches.ts';
import { flatten, suffixOf } from './model-steps.ts';
import type { RunModel } from './run-model.ts';

/** What a log says of a step that it entered. */
export interface LoggedStep {
  /** Empty while it runs. */
  readonly state: string;
  readonly output: unknown;
  /** Iterations that a loop has begun. */
  readonly iteration: number;
}

export interface LoggedRun {
  readonly isPaused: boolean;
  /** Whether a step that the run can do without failed. */
  readonly hasFailure: boolean;
  /** Undefined when no step has set any. */
  readonly variables: Record<string, unknown> | undefined;
  readonly steps: ReadonlyMap<string, LoggedStep>;
}

/**
 * The interpreter begins at once what may begin, and the log may never do so: a run stops, or an
 * operator changes what is ahead. Here the interpreter takes back what the log has not begun.
 */
export function takeBack(model: RunModel, logged: LoggedRun): void {
  const { values, definition } = model;
  for (const [key, entered] of model.entered) {
    const step = logged.steps.get(key);
    const isFork = entered.branches !== undefined;
    if (step === undefined || (isFork && step.state === '')) {
      if (!values.steps.has(key) || !isOpen(model, key, logged)) forget(model, key);
      else Object.assign(entered, { state: 'running', isEvaluating: false });
    } else follow(model, entered, { key, step });
  }
  values.variables = { ...(logged.variables ?? definition.variables) };
  model.hasFailure = logged.hasFailure;
  Object.assign(model, { status: logged.isPaused ? 'paused' : 'running', output: undefined });
}

function forget({ entered, values }: RunModel, key: string): void {
  entered.delete(key);
  values.steps.delete(key);
}

/** Whether the fork of a branch has begun its branches by the log. */
function isOpen({ definition, entered }: RunModel, key: string, { steps }: LoggedRun): boolean {
  const suffix = suffixOf(key);
  const reference = key.slice(0, key.length - suffix.length);
  return flatten(definition.tasks)
    .filter(isDynamicFork)
    .some(({ taskReferenceName: name }) => {
      const isIts = entered.get(name + suffix)?.branches?.includes(reference);
      return isIts && steps.get(name + suffix)?.state === 'succeeded';
    });
}

interface Told {
  readonly key: string;
  readonly step: LoggedStep;
}

function follow(model: RunModel, entered: Entered, { key, step }: Told): void {
  if (model.values.find(key)?.type === 'DO_WHILE') {
    entered.iteration = step.iteration;
    // The interpreter finds out again whether the body is over.
    entered.isEvaluating = false;
  }
  const state = STATES[step.state] ?? (step.state as StepState);
  // What is stopped may have succeeded, if its end came first.
  if (state === 'succeeded' && entered.state !== state) entered.output = step.output;
  entered.state = state;
}

const STATES: Readonly<Record<string, StepState>> = { '': 'running', timed_out: 'failed' };
