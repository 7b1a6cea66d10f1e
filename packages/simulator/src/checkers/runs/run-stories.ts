import { type Event, RUN_REASONS, RUN_RELATIONS, type StartRunsReply } from '@sluice/core';
import type { ModelDefinition } from '@sluice/core/testing/runs/model-steps';
import type { KnownRuns } from '../../clients/known-runs.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import { BY_SCHEDULE } from '../rules/causes.ts';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import { isHeld, type TaskStory, textOf } from '../story/task-story.ts';
import { ChildRules } from './child-rules.ts';
import { RunRevivals } from './run-revivals.ts';
import { RunSteps, type StepEvent } from './run-steps.ts';
import { isGoingOn, isSame, nameOf, RunStory, runStateName, type Started } from './run-story.ts';
import { runsInMemory } from './runs-in-memory.ts';
import type { ServerPace } from './server-pace.ts';

type EventOf<Type extends Event['type']> = Extract<Event, { type: Type }>;
type Operated = EventOf<'run_changed' | 'run_revived' | 'steps_reset' | 'step_skip_planned'>;
type Program = { readonly name: string; readonly definition: ModelDefinition };

/**
 * Compares the log with a naive interpreter of each run's definition.
 *
 * I21: a run that a client was told of is in the log, and in memory until it was forgotten.
 * I22: a step enters once, after the steps before it, with the input that the interpreter says; it
 *   ends once, as its task did; the run ends as the interpreter says, with its output.
 * I23: what may enter enters soon, while the server is free to do so: so does a join.
 * I24: once the outcome is fixed nothing enters, and a run that ended has nothing that lives.
 */
export class RunStories implements StoryRule {
  readonly runs = new Map<number, RunStory>();
  readonly story: LogStory;
  private readonly known: KnownRuns;
  private readonly pace: ServerPace;
  private readonly programs = new Map<number, Program>();
  private readonly slots = new Map<number, number>();
  readonly byId = new Map<string, RunStory>();
  private readonly children: ChildRules;
  private readonly revivals: RunRevivals;
  private readonly steps: RunSteps;
  /** Runs in which something may enter. */
  private readonly waiting = new Set<RunStory>();
  /** Runs that stop, with the world's time of their last change. */
  private readonly stopping = new Map<RunStory, number>();
  /** Runs that the command started so far. */
  private started = 0;

  constructor(story: LogStory, known: KnownRuns, pace: ServerPace) {
    this.story = story;
    this.known = known;
    this.pace = pace;
    this.children = new ChildRules(story.simulation, this.runs);
    this.revivals = new RunRevivals(story);
    this.steps = new RunSteps(story, this.children);
  }

  begins(): void {
    this.started = 0;
    this.revivals.begins();
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    const run = this.runs.get(task?.run ?? 0);
    if (run !== undefined && this.stopping.has(run)) this.stopping.set(run, told.executedAt);
    switch (event.type) {
      case 'workflow_registered': {
        const { program, name, workflowVersion, text } = event;
        const definition = JSON.parse(text) as ModelDefinition;
        this.programs.set(program, { name: `${name}/${workflowVersion}`, definition });
        return;
      }
      case 'run_started':
        this.started += 1;
        return this.start(event, told);
      case 'child_started':
        return this.startChild(event, told);
      case 'run_changed':
      case 'run_revived':
      case 'steps_reset':
      case 'step_skip_planned':
        return this.operated(event, told);
      case 'step_submitted':
      case 'step_started':
      case 'frame_opened':
      case 'branches_opened':
      case 'values_asked':
      case 'step_ended':
        return this.stepChanged(event, told);
      case 'run_stopping':
        return this.runStopping(event, told);
      case 'run_ended':
        return this.runEnded(event, told);
      case 'run_forgotten':
        return this.forgotten(event.task);
      case 'task_forgotten':
        return this.taskForgotten(task);
      default:
        return;
    }
  }

  private stepChanged(event: StepEvent, told: ToldCommand): void {
    const number = event.type === 'step_submitted' ? event.run : event.task;
    const run = this.runOf(number, event.type);
    if (run === undefined) return;
    this.steps.event(event, run, told);
    this.waiting.add(run);
  }

  private operated(event: Operated, told: ToldCommand): void {
    const run = this.runOf(event.task, event.type);
    if (run === undefined) return;
    if (event.type === 'run_changed') this.revivals.changed(event, run, told);
    else if (event.type === 'run_revived') this.revivals.goesOn(run, told);
    else if (event.type === 'steps_reset') this.revivals.reset(event, run);
    else this.revivals.skipPlanned(event.reference, run, told);
    this.waiting.add(run);
  }

  ends({ command, reply, executedAt }: ToldCommand): void {
    this.revivals.ends();
    this.lookAtWaiting(executedAt);
    this.lookAtStopping(executedAt);
    if (command.type !== 'start_runs') return;
    const { rejection, known } = reply as StartRunsReply;
    const expected = rejection === undefined ? command.runs.length - (known?.size ?? 0) : 0;
    this.check(this.started === expected, 'I21', () => {
      return `a start of ${expected} new runs has ${this.started} in the log`;
    });
  }

  booted(partition: WatchedPartition): void {
    const told = [...this.runs.values()].filter(({ isForgotten }) => !isForgotten);
    const problems = runsInMemory(partition.state, told);
    this.check(problems.length === 0, 'I21', () => problems.join('; '));
  }

  ended(): void {
    for (const { id, client } of this.known.acknowledged) {
      this.check(this.byId.has(id), 'I21', () => `${client} was told of ${id}, not in the log`);
    }
  }

  private lookAtWaiting(now: number): void {
    for (const run of this.waiting) {
      // A loop begins an iteration when all tasks of its body fit into memory, and a fork likewise.
      if (run.due.size === 0 || run.waitsForRoom) this.waiting.delete(run);
      if (run.waitsForRoom || run.state !== 'running') continue;
      // The interpreter has all values at once. Here a step waits for them, and others for it.
      if (run.asking.size > 0) run.postponeDue(now);
      for (const [reference, since] of run.due) {
        const lateMs = now - Math.max(since, this.pace.freeSince);
        this.check(lateMs <= this.pace.lateMsMax, 'I23', () => {
          return `${nameOf(run, reference)} may enter, and has not for ${Math.round(lateMs)} ms`;
        });
      }
    }
  }

  /** Of a run that stops, held tasks are asked to stop, and all else ends. */
  private lookAtStopping(now: number): void {
    for (const [run, since] of this.stopping) {
      if (run.isOver) this.stopping.delete(run);
      const lateMs = now - Math.max(since, this.pace.freeSince);
      if (run.isOver || lateMs <= this.pace.lateMsMax) continue;
      const left = run.live.filter((reference) => {
        const { task: number = 0, child = 0 } = run.steps.get(reference) ?? {};
        const below = this.runs.get(child);
        // A run below is looked at itself.
        if (below !== undefined && below.state === 'stopping') return false;
        const task = this.story.tasks.get(number);
        return task === undefined || !isHeld(task) || task.stop === '';
      });
      const isStuck = left.length > 0 || run.live.length === 0;
      this.check(!isStuck, 'I24', () => {
        return `run ${run.number} stops for ${Math.round(lateMs)} ms, and ${left} is not stopped`;
      });
    }
  }

  private startChild(event: EventOf<'child_started'>, told: ToldCommand): void {
    const relation = RUN_RELATIONS[event.relation];
    // Nobody waits for a failure workflow.
    if (relation === 'failure_workflow') return this.start(event, told);
    if (relation === 'start_workflow') {
      this.children.startsAlone(event, this.runOf(event.parent, event.type));
      return this.start(event, told);
    }
    const parent = this.children.starts(event, this.runOf(event.parent, event.type));
    if (parent !== undefined) this.start(event, told, parent);
  }

  private start(event: Started, told: ToldCommand, parent?: RunStory['parent']): void {
    const program = this.programs.get(event.program);
    this.check(program !== undefined, 'I21', () => `run ${event.task} has no definition`);
    this.check(!this.slots.has(event.slot), 'I37', () => {
      return `run ${event.task} is put where ${this.slots.get(event.slot)} is`;
    });
    if (program === undefined) return;
    this.slots.set(event.slot, event.task);
    const run = new RunStory(event, program.definition, {
      program: program.name,
      at: told.at,
      parent,
    });
    run.noteDue(told.executedAt);
    this.waiting.add(run);
    this.runs.set(run.number, run);
    this.byId.set(run.id, run);
  }

  private runStopping(event: Extract<Event, { type: 'run_stopping' }>, told: ToldCommand): void {
    const run = this.runOf(event.task, event.type);
    if (run === undefined) return;
    const outcome = runStateName(event.outcome);
    this.check(
      isGoingOn({ status: run.state }),
      'I24',
      () => `run ${run.number} stops while ${run.state}`,
    );
    const { command } = told;
    const isBelow = RUN_REASONS[event.reason] === 'parent_stopped';
    const isCancel = command.type === 'cancel_runs' && command.ids.includes(run.id);
    // A schedule may cancel the run that it started.
    const isBySchedule =
      BY_SCHEDULE.includes(command.type) && this.story.scheduledTasks.has(run.number);
    const isAsked = isCancel || (isBySchedule && RUN_REASONS[event.reason] === 'cancelled');
    if (isBelow) this.children.stops(run);
    if (isAsked || isBelow) {
      run.outcome = 'cancelled';
      // The interpreter ends at once what in the log may wait for room or for values in blobs.
      if (run.model.endedAs !== undefined) run.takeBack();
      run.model.cancel();
    } else {
      this.check(!isGoingOn(run.model), 'I22', () => `run ${run.number} stops, and nothing failed`);
    }
    run.state = 'stopping';
    run.decider = run.places.get(event.step - 1) ?? '';
    run.output = textOf(event.output);
    this.stopping.set(run, told.executedAt);
    run.due.clear();
    if (run.outcome === '') run.outcome = run.model.endsAs;
    this.check(outcome === run.outcome, 'I22', () => {
      return `run ${run.number} will end as ${outcome}, not ${run.outcome}`;
    });
  }

  private runEnded(event: Extract<Event, { type: 'run_ended' }>, told: ToldCommand): void {
    const { at, executedAt } = told;
    const run = this.runOf(event.task, event.type);
    if (run === undefined) return;
    const state = runStateName(event.state);
    const { live } = run;
    this.check(!run.isOver, 'I24', () => `run ${run.number} ends twice`);
    this.check(live.length === 0, 'I24', () => `run ${run.number} ends, and ${live} lives`);
    // Nothing is due in a run that stops.
    const { due } = run;
    this.check(due.size === 0, 'I22', () => `run ${run.number} ends before ${[...due.keys()]}`);
    const expected = run.state === 'stopping' ? run.outcome : run.model.status;
    this.check(state === expected, 'I22', () => {
      return `run ${run.number} ends as ${state}, not ${expected}`;
    });
    run.state = state;
    run.endedAt = at;
    if (event.hasOutput) run.output = textOf(event.output);
    const above = run.parent?.run;
    if (above !== undefined && this.stopping.has(above)) this.stopping.set(above, executedAt);
    if (state !== 'succeeded') return;
    const { output } = run.model;
    this.check(!event.hasOutput || isSame(run.output, output), 'I22', () => {
      return `run ${run.number} has output ${run.output}, not ${JSON.stringify(output)}`;
    });
  }

  private forgotten(number: number): void {
    const run = this.runOf(number, 'run_forgotten');
    if (run === undefined) return;
    this.check(run.isOver, 'I21', () => `run ${number} is forgotten while ${run.state}`);
    run.isForgotten = true;
    this.slots.delete(run.slot);
  }

  private taskForgotten(task: TaskStory | undefined): void {
    if (task === undefined || task.run === 0) return;
    const isGone = task.hasLeftRun || this.runs.get(task.run)?.isForgotten === true;
    this.check(isGone, 'I21', () => `task ${task.number} is forgotten before its run`);
  }

  private runOf(number: number, what: string): RunStory | undefined {
    const run = this.runs.get(number);
    const isThere = run !== undefined && !run.isForgotten;
    this.check(isThere, 'I21', () => `${what} of run ${number}, which is not there`);
    return run;
  }

  private check(holds: boolean, rule: string, what: () => string): void {
    this.story.simulation.check(holds, rule, what);
  }
}
