import { type Event, STEP_KINDS } from '@sluice/core';
import { suffixOf } from '@sluice/core/testing/runs/model-steps';
import { plainIds } from '@sluice/core/testing/runs/shown-runs';
import type { LogStory } from '../story/log-story.ts';
import type { ToldCommand } from '../story/story-rule.ts';
import { hasEnded, textOf } from '../story/task-story.ts';
import type { ChildRules } from './child-rules.ts';
import {
  type Entering,
  givenBy,
  isGoingOn,
  isSame,
  nameOf,
  OUTCOMES,
  parsePayload,
  type RunStory,
  stepStateName,
} from './run-story.ts';

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;
type StepEnded = EventOf<'step_ended'>;

export type StepEvent = EventOf<
  | 'step_submitted'
  | 'step_started'
  | 'frame_opened'
  | 'branches_opened'
  | 'step_ended'
  | 'values_asked'
>;

/**
 * I22, for steps: a step enters once, after the steps before it, with the input that the
 *   interpreter says. It ends once, as its task did, or as a call says.
 */
export class RunSteps {
  private readonly story: LogStory;
  private readonly children: ChildRules;

  constructor(story: LogStory, children: ChildRules) {
    this.story = story;
    this.children = children;
  }

  event(event: StepEvent, run: RunStory, told: ToldCommand): void {
    switch (event.type) {
      case 'step_submitted':
        return this.submitted(event, run);
      case 'step_started':
        return this.started(event, run);
      case 'frame_opened':
        return this.frameOpened(event, run, told);
      case 'branches_opened':
        return this.branchesOpened(event, run, told);
      case 'step_ended':
        return this.ended(event, run, told);
      case 'values_asked':
        return this.asked(event, run, told);
    }
  }
  private submitted(event: EventOf<'step_submitted'>, run: RunStory): void {
    const { reference } = event;
    this.enters(run, reference, { slot: event.step, task: event.task });
    const input = textOf(event.input);
    const expected = run.model.entered.get(reference)?.input;
    this.check(isSame(input, expected), 'I22', () => {
      return `${nameOf(run, reference)} gets ${input}, not ${JSON.stringify(expected)}`;
    });
  }

  /** A step without a task begins; a loop does so once, and then asks for its conditions. */
  private started(event: EventOf<'step_started'>, run: RunStory): void {
    const { slot, reference, until } = event;
    if (run.steps.has(reference)) return;
    this.enters(run, reference, { slot, until });
  }

  /** A loop goes on: by its list, as the interpreter knows, or because a script said so. */
  private frameOpened(
    { slot, iteration }: EventOf<'frame_opened'>,
    run: RunStory,
    told: ToldCommand,
  ): void {
    const reference = run.places.get(slot);
    if (reference === undefined) return;
    const loop = run.model.entered.get(reference);
    const step = run.steps.get(reference);
    if (step !== undefined) step.iteration = iteration;
    const isAsked = loop?.isEvaluating && loop.iteration === iteration - 1;
    if (isAsked) run.model.evaluated(reference, true);
    this.check(loop?.iteration !== undefined && loop.iteration >= iteration, 'I22', () => {
      return `${nameOf(run, reference)} begins iteration ${iteration} too early`;
    });
    run.noteDue(told.executedAt);
  }

  /** A dynamic fork is over, with as many branches as the interpreter says. */
  private branchesOpened(
    { slot, count, tasks }: EventOf<'branches_opened'>,
    run: RunStory,
    told: ToldCommand,
  ): void {
    const reference = run.places.get(slot) ?? '';
    const fork = run.steps.get(reference);
    if (fork === undefined) return;
    const name = nameOf(run, reference);
    this.check(fork.state === '', 'I22', () => `${name} forks twice`);
    fork.state = 'succeeded';
    const { entered } = run.model;
    const branches = entered.get(reference)?.branches ?? [];
    const expected = branches.length;
    this.check(expected === count, 'I22', () => `${name} has ${count} branches, not ${expected}`);
    const suffix = suffixOf(reference);
    const withTask = branches.filter((each) => entered.get(each + suffix)?.child === undefined);
    this.check(withTask.length === tasks, 'I37', () => {
      return `${name} takes room for ${tasks} tasks, and has ${withTask.length} with a task`;
    });
    run.noteDue(told.executedAt);
  }

  /** A step waits for values in blobs, or is due again without them. */
  private asked(
    { step, reference, evaluation }: EventOf<'values_asked'>,
    run: RunStory,
    told: ToldCommand,
  ): void {
    if (step === 0) return;
    const isAsked = evaluation !== 0;
    if (isAsked) run.asking.add(reference);
    else run.asking.delete(reference);
    if (run.due.has(reference)) run.due.set(reference, isAsked ? Infinity : told.executedAt);
  }

  private enters(run: RunStory, reference: string, entering: Entering): void {
    const name = nameOf(run, reference);
    this.check(run.state === 'running', 'I24', () => `${name} enters, and its run is ${run.state}`);
    this.check(!run.steps.has(reference), 'I22', () => `${name} enters twice`);
    this.check(run.model.entered.has(reference), 'I22', () => `${name} enters too early`);
    run.enter(reference, entering);
  }

  private ended(event: StepEnded, run: RunStory, told: ToldCommand): void {
    const { reference } = event;
    const name = nameOf(run, reference);
    const state = stepStateName(event.state);
    const known = run.steps.get(reference);
    const isOwn = isEndedBy(told.command, run, reference);
    if (known === undefined) {
      // A step that waits for values in blobs has not begun, and may be ended.
      const isAsking = run.asking.has(reference) && (isOwn || state === 'cancelled');
      if (isAsking) run.enter(reference, { slot: event.slot });
      else this.enters(run, reference, { slot: event.slot });
      if (isOwn || run.skippedBranches.delete(reference)) endByHand(run, event);
      else if (isAsking) this.waitEnded(run, event, told);
    } else {
      this.check(known.state === '', 'I22', () => `${name} ends twice`);
      if (known.task !== 0) this.taskEnded(run, reference, known.task);
      else if (known.child !== 0) this.children.ends(run, event);
      else if (isOwn) endByHand(run, event);
      else this.waitEnded(run, event, told);
    }
    this.keepEnd(run, event);
    if (STEP_KINDS[event.kind] === 'EXCLUSIVE_JOIN') takeFirst(run, reference);
    const expected = run.model.entered.get(reference)?.state ?? 'pending';
    const isRight = expected === 'failed' ? OUTCOMES[state] !== undefined : expected === state;
    // What is stopped may have succeeded, if its end came first.
    const isStopped = !isGoingOn({ status: run.state });
    this.check(isRight || isStopped, 'I22', () => `${name} ends as ${state}, not ${expected}`);
    run.noteDue(told.executedAt);
  }

  private keepEnd(run: RunStory, event: StepEnded): void {
    const step = run.steps.get(event.reference);
    if (step === undefined) return;
    const task = this.story.tasks.get(step.task);
    const text = task === undefined ? textOf(event.output) : task.result;
    step.state = stepStateName(event.state);
    if (step.state === 'succeeded') step.output = plainIds(parsePayload(text));
    if (event.isTolerated) run.hasFailure = true;
    const isSet = STEP_KINDS[event.kind] === 'SET_VARIABLE' && step.state === 'succeeded';
    if (isSet) run.variables = step.output as Record<string, unknown>;
  }

  /** A step that waited for a time, a script or its body. */
  private waitEnded(run: RunStory, event: StepEnded, { at }: ToldCommand): void {
    const { reference } = event;
    const { model } = run;
    const kind = STEP_KINDS[event.kind];
    if (stepStateName(event.state) === 'cancelled') {
      if (model.entered.get(reference)?.state === 'running') model.report(reference, false, null);
    } else if (kind === 'WAIT' || kind === 'HUMAN') {
      const until = run.steps.get(reference)?.until ?? 0;
      const isTime = until > 0 && at >= until;
      this.check(isTime, 'I22', () => `${nameOf(run, reference)} ends before its time`);
      model.report(reference, true, undefined);
    } else if (model.entered.get(reference)?.isEvaluating) {
      model.evaluated(reference, givenBy(kind, textOf(event.output)));
    }
  }

  private taskEnded(run: RunStory, reference: string, number: number): void {
    const task = this.story.tasks.get(number);
    const name = nameOf(run, reference);
    this.check(task !== undefined && hasEnded(task), 'I22', () => {
      return `${name} ends, and its task ${number} is ${task?.phase}`;
    });
    if (task === undefined) return;
    const succeeded = task.phase === 'succeeded';
    // A null output has no bytes.
    const output = succeeded && task.result !== '' ? parsePayload(task.result) : undefined;
    const wasGoingOn = isGoingOn(run.model);
    try {
      run.model.report(reference, succeeded, output);
    } catch (cause) {
      this.check(false, 'I22', () => `${name} ends: ${(cause as Error).message}`);
    }
    // A failure that is allowed may be followed by a TERMINATE that succeeds.
    if (wasGoingOn && run.model.endsAs === 'failed' && !succeeded) {
      run.outcome = OUTCOMES[task.phase] ?? '';
    }
  }

  private check(holds: boolean, rule: string, what: () => string): void {
    this.story.simulation.check(holds, rule, what);
  }
}

/**
 * Two branches may end before the EXCLUSIVE_JOIN begins that waits for the first of them. Then it
 * takes the one that it names first, and the interpreter had taken the other one.
 */
function takeFirst(run: RunStory, reference: string): void {
  const { output, state } = run.steps.get(reference) ?? {};
  const entered = run.model.entered.get(reference);
  if (entered === undefined || state !== 'succeeded') return;
  if (isSame(JSON.stringify(output ?? null), entered.output)) return;
  const outputs = [...run.model.entered.values()].map((each) => each.output);
  if (!outputs.some((each) => isSame(JSON.stringify(output ?? null), each))) return;
  run.takeBack();
  entered.output = output;
  run.model.settle();
}

/** Whether this call ends the step. */
function isEndedBy(command: ToldCommand['command'], run: RunStory, reference: string): boolean {
  return (
    command.type === 'operate_step' && command.id === run.id && command.reference === reference
  );
}

/** A call ended a step without a task. */
function endByHand(run: RunStory, { kind, reference, state, output }: StepEnded): void {
  const { model } = run;
  if (STEP_KINDS[kind] === 'DO_WHILE') run.leaveLoop(reference);
  if (STEP_KINDS[kind] === 'FORK_JOIN_DYNAMIC') loseBranches(run, reference);
  const text = textOf(output);
  const entered = model.entered.get(reference);
  switch (stepStateName(state)) {
    case 'succeeded':
      if (STEP_KINDS[kind] === 'SWITCH') model.evaluated(reference, givenBy('SWITCH', text));
      else model.report(reference, true, text === '' ? undefined : JSON.parse(text));
      return;
    case 'skipped':
      if (entered !== undefined) entered.state = 'skipped';
      return model.settle();
    default:
      model.report(reference, false, null);
  }
}

/**
 * A call can end a fork only while it waits for values in blobs. The interpreter has them already,
 * and had begun its branches.
 */
function loseBranches({ model }: RunStory, reference: string): void {
  const fork = model.entered.get(reference);
  for (const branch of fork?.branches ?? []) {
    const key = branch + suffixOf(reference);
    model.entered.delete(key);
    model.values.steps.delete(key);
  }
  if (fork !== undefined) fork.branches = [];
}
