import type { Event } from '@sluice/core';
import type { Simulation } from '../../kernel/simulation.ts';
import { textOf } from '../story/task-story.ts';
import { isGoingOn, isSame, nameOf, OUTCOMES, type RunStory, stepStateName } from './run-story.ts';

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/**
 * I43: a step that waits for a run starts one run, with the input of the step. It ends after that
 *   run, once, as the run did and with its output. A run that is stopped for its parent has one
 *   that stops.
 */
export class ChildRules {
  private readonly simulation: Simulation;
  private readonly runs: ReadonlyMap<number, RunStory>;

  constructor(simulation: Simulation, runs: ReadonlyMap<number, RunStory>) {
    this.simulation = simulation;
    this.runs = runs;
  }

  /** A step of this run starts another one. */
  starts(event: EventOf<'child_started'>, run: RunStory | undefined): RunStory['parent'] {
    const { reference } = event;
    const step = run?.steps.get(reference);
    this.check(step !== undefined, () => `run ${event.task} is started by no step`);
    if (run === undefined || step === undefined) return undefined;
    const name = nameOf(run, reference);
    this.check(step.child === 0 && step.state === '', () => `${name} starts a second run`);
    const expected = run.model.entered.get(reference)?.input;
    const input = textOf(event.input);
    this.check(isSame(input, expected), () => {
      return `${name} starts a run with ${input}, not ${JSON.stringify(expected)}`;
    });
    step.child = event.task;
    return { run, reference };
  }

  /** A step of this run starts another one that nobody waits for. The step ends right after it. */
  startsAlone({ task, reference, input }: EventOf<'child_started'>, run?: RunStory): void {
    const { input: given } = run?.model.entered.get(reference) ?? {};
    const isFirst = run !== undefined && !run.steps.has(reference) && !run.starts.has(reference);
    this.check(isFirst && given !== undefined, () => {
      return `run ${task} is started by ${reference} of run ${run?.number}, which may not do so`;
    });
    run?.starts.add(reference);
    const expected = (given as { startWorkflow?: { input?: unknown } }).startWorkflow?.input;
    const text = textOf(input);
    this.check(isSame(text, expected), () => {
      return `run ${task} starts with ${text}, not ${JSON.stringify(expected)}`;
    });
  }

  /** A step that waits for a run ends. */
  ends(run: RunStory, event: EventOf<'step_ended'>): void {
    const name = nameOf(run, event.reference);
    const state = stepStateName(event.state);
    const child = this.runs.get(run.steps.get(event.reference)?.child ?? 0);
    const which = `run ${child?.number}`;
    this.check(child?.isOver === true && !child.isForgotten, () => {
      return `${name} ends, and ${which} is ${child?.state}`;
    });
    const isTolerated = state === 'completed_with_errors' && child?.state !== 'succeeded';
    this.check(state === child?.state || isTolerated, () => {
      return `${name} ends as ${state}, and ${which} as ${child?.state}`;
    });
    const output = textOf(event.output);
    this.check(state !== 'succeeded' || output === child?.output, () => {
      return `${name} has output ${output}, and ${which} ${child?.output}`;
    });
    if (child !== undefined) this.tellParent(child);
  }

  /** A run is stopped because the one that waits for it is. */
  stops({ number, parent }: RunStory): void {
    this.check(parent?.run.state === 'stopping', () => {
      return `run ${number} is stopped for its parent, which is ${parent?.run.state}`;
    });
  }

  /** The interpreter of the parent takes the end of a run when the step ends, as the log does. */
  private tellParent({ parent, state }: RunStory): void {
    if (parent === undefined) return;
    const { run, reference } = parent;
    const wasGoingOn = isGoingOn(run.model);
    run.model.takeChild(reference);
    const isStopped = wasGoingOn && !isGoingOn(run.model) && state !== 'succeeded';
    if (isStopped) run.outcome = OUTCOMES[state] ?? '';
  }

  private check(holds: boolean, what: () => string): void {
    this.simulation.check(holds, 'I43', what);
  }
}
