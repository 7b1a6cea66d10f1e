import { type Event, RESET_KINDS, RUN_STATES } from '@sluice/core';
import { rerun, restart, retry } from '@sluice/core/testing/runs/model-revival';
import type { LogStory } from '../story/log-story.ts';
import type { ToldCommand } from '../story/story-rule.ts';
import { nameOf, OUTCOMES, type RunStory } from './run-story.ts';

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;

/** A run that the current command lets go on. */
interface Revived {
  readonly run: RunStory;
  /** Steps that stay as they are, by the interpreter. */
  readonly kept: ReadonlySet<string>;
  /** Whether the log has said which steps begin again. */
  isReset: boolean;
}

/**
 * I44: nothing begins in a paused run, and only a call pauses or resumes it. Only a call lets a run
 *   that ended go on, and the runs above that ended because of it. The steps that begin again are
 *   those that the interpreter says.
 */
export class RunRevivals {
  private readonly story: LogStory;
  /** Runs that the current command let go on, the lowest one first. */
  private readonly revived: Revived[] = [];

  constructor(story: LogStory) {
    this.story = story;
  }

  begins(): void {
    this.revived.length = 0;
  }

  changed({ state }: EventOf<'run_changed'>, run: RunStory, told: ToldCommand): void {
    const { command, executedAt } = told;
    const name = RUN_STATES[state];
    const isPause = name === 'paused';
    const isAsked = command.type === 'pause_runs' && command.ids.includes(run.id);
    const isChange = run.state === (isPause ? 'running' : 'paused');
    this.check(isAsked && isChange && command.isPause === isPause, () => {
      return `run ${run.number} is ${run.state}, and becomes ${name} by ${command.type}`;
    });
    run.state = name;
    run.model.pause(isPause);
    if (isPause) return;
    for (const reference of run.due.keys()) {
      // What waits for values in blobs begins when they are there.
      if (!run.asking.has(reference)) run.due.set(reference, executedAt);
    }
    run.noteDue(executedAt);
  }

  /** A step that has not begun will be passed over. */
  skipPlanned(reference: string, run: RunStory, { executedAt }: ToldCommand): void {
    const name = nameOf(run, reference);
    this.check(!run.steps.has(reference), () => `${name} will be skipped, and has begun`);
    if (run.model.values.steps.has(reference)) {
      run.skippedBranches.add(reference);
      return;
    }
    run.takeBack();
    run.model.skipped.add(reference);
    run.model.settle();
    run.noteDue(executedAt);
  }

  goesOn(run: RunStory, { command, executedAt }: ToldCommand): void {
    const { number } = run;
    const below = this.revived.at(-1)?.run;
    const isOwn = 'id' in command && command.id === run.id;
    const isAbove = below?.parent?.run === run;
    this.check(run.isOver && (isOwn ? below === undefined : isAbove), () => {
      return `run ${number} goes on by ${command.type}, and is ${run.state}`;
    });
    run.takeBack();
    const kept = isOwn ? goOn(run, command) : retry(run.model, below?.parent?.reference);
    this.revived.push({ run, kept, isReset: false });
    // Whenever the interpreter takes back what has not begun, it reads these again.
    run.hasFailure = false;
    if (isOwn && isRestart(command)) run.variables = undefined;
    Object.assign(run, { state: 'running', outcome: '', decider: '', output: '', endedAt: 0 });
    run.wasRevived = true;
    this.story.stoppingRuns.delete(number);
    run.noteDue(executedAt);
  }

  reset(event: EventOf<'steps_reset'>, run: RunStory): void {
    for (let at = 0; at < event.frames.length; at += 2) {
      const [base, size] = event.frames.slice(at, at + 2);
      for (let slot = base; slot < base + size; slot++) this.forget(run, slot);
    }
    event.steps.forEach((slot, at) => {
      const isAgain = RESET_KINDS[event.kinds[at]] === 'again';
      const step = run.steps.get(run.places.get(slot) ?? '');
      if (isAgain) this.forget(run, slot);
      else if (step !== undefined) step.state = '';
    });
    const revived = this.revived.find((each) => each.run === run);
    if (revived === undefined) return;
    revived.isReset = true;
    this.checkKept(revived, [...run.steps.keys()]);
  }

  private checkKept({ run, kept }: Revived, steps: readonly string[]): void {
    const extra = steps.filter((key) => !kept.has(key));
    this.check(extra.length === 0, () => `run ${run.number} goes on and keeps ${extra}`);
  }

  /** The command is over: the log has reset what the interpreter has. */
  ends(): void {
    for (const revived of this.revived) {
      const { run, kept } = revived;
      const isOpenBranch = (key: string): boolean => run.model.values.steps.has(key);
      const lost = [...kept].filter((key) => !run.steps.has(key) && !isOpenBranch(key));
      this.check(lost.length === 0, () => `run ${run.number} goes on without its steps ${lost}`);
      this.check(!isAlone(run), () => `run ${run.number} goes on, and the run above does not`);
      if (revived.isReset) continue;
      // Others may have entered since.
      const failed = [...run.steps].filter(([, { state }]) => OUTCOMES[state] !== undefined);
      this.checkKept(
        revived,
        failed.map(([key]) => key),
      );
    }
  }

  /** The step has not begun. Its task is an ended task like any other. */
  private forget(run: RunStory, slot: number): void {
    const reference = run.places.get(slot) ?? '';
    const task = this.story.tasks.get(run.steps.get(reference)?.task ?? 0);
    if (task !== undefined) task.hasLeftRun = true;
    run.steps.delete(reference);
    run.places.delete(slot);
  }

  private check(holds: boolean, what: () => string): void {
    this.story.simulation.check(holds, 'I44', what);
  }
}

/**
 * Whether a run goes on, and the one above that ended because of it does not. In a loop, the
 * iteration may be over.
 */
function isAlone({ number, parent }: RunStory): boolean {
  if (parent === undefined || parent.reference.includes('__')) return false;
  const { run, reference } = parent;
  const isKnown = run.isOver && !run.isForgotten && run.steps.get(reference)?.child === number;
  return isKnown && run.decider === reference;
}

function isRestart(command: ToldCommand['command']): boolean {
  return command.type === 'revive_run' && command.operation === 'restart';
}

/** What the interpreter does when this command lets the run go on. */
function goOn(run: RunStory, command: ToldCommand['command']): ReadonlySet<string> {
  const { model } = run;
  if (command.type === 'operate_step') {
    const { reference } = command;
    if (model.values.steps.has(reference)) return retry(model);
    model.held.add(reference);
    return retry(model);
  }
  if (command.type !== 'revive_run') return retry(model);
  const { operation, reference, input } = command;
  if (operation === 'restart') return restart(model);
  if (operation === 'retry') return retry(model);
  const text = new TextDecoder().decode(input);
  return rerun(model, reference, text === '' ? undefined : JSON.parse(text));
}
