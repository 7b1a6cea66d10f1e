import {
  type AttachSessionReply,
  type Command,
  type Event,
  REASONS,
  type ReportAttemptsReply,
  RUN_STATES,
  STEP_KINDS,
  STEP_STATES,
  type StartRunsReply,
  type SubmitTasksReply,
  TASK_STATES,
} from '@sluice/core';
import type { LogHold } from '@sluice/log';
import type { Situations } from '../base/situations.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { StoryRule, ToldCommand } from './story/story-rule.ts';
import type { TaskStory } from './story/task-story.ts';

/** Checks nothing. It notes the situations that occur in the story, so that a run can list them. */
export class Spotter implements StoryRule {
  private readonly situations: Situations;
  private boots = 0;
  /** The newest partition time at which a task succeeded. */
  private endedAt = 0;
  /** Id of the run that the current command lets go on. */
  private revived = '';

  constructor(situations: Situations) {
    this.situations = situations;
  }

  booted({ state }: WatchedPartition, { first }: LogHold): void {
    this.boots += 1;
    if (this.boots === 1) return;
    this.note('a restart');
    if (first > 0) this.note('a restart on a log that was trimmed');
    if ([...state.holders.holding()].length > 0) this.note('a restart with leases that are held');
    if ([...state.redrives.entries()].length > 0)
      this.note('a redrive that goes on after a restart');
    if (state.timers.count > 0) this.note('a restart with timers that run');
    if (state.runs.line.length > 0) this.note('a restart with runs that have something to do');
    if (state.runs.table.count > state.runs.ended.length) this.note('a restart during runs');
  }

  begins({ command, reply }: ToldCommand): void {
    this.revived = '';
    const { rejection } = (reply ?? {}) as { rejection?: string };
    if (rejection !== undefined) this.note(`${command.type} answers ${rejection}`);
    if (command.type === 'attach_session') this.attached(reply as AttachSessionReply);
    if (command.type === 'renew_sessions') this.note('the server had not run for a while');
    if (command.type === 'submit_tasks') this.submitted(reply as SubmitTasksReply);
    if (command.type === 'start_runs' && (reply as StartRunsReply).known !== undefined) {
      this.note('a start was recognised by its key');
    }
    if (command.type === 'report_attempts') this.reported(command, reply as ReportAttemptsReply);
    const { outcomes } = (reply ?? {}) as { outcomes?: readonly { rejection?: string }[] };
    if (command.type === 'report_attempts' || outcomes === undefined) return;
    if (outcomes.length > 1) this.note(`${command.type} of several at once`);
    for (const { rejection: why = 'done' } of outcomes) this.note(`${command.type}: ${why}`);
  }

  event(event: Event, task: TaskStory | undefined, { at, command }: ToldCommand): void {
    this.note(`event ${nameOf(event)}`);
    const isChange = event.type === 'task_patched' && command.type === 'retry_tasks';
    if (isChange) this.note('a retry with another input');
    if (event.type === 'attempt_leased') {
      if (command.type === 'submit_tasks') this.note('leased in the turn of its submit');
      if (task !== undefined && at - task.queuedSince > 30_000)
        this.note('leased after a long wait');
    }
    const isOwn = 'id' in command && command.id === this.revived;
    if (event.type === 'run_revived') {
      if (isOwn) this.note('a run above went on, too');
      this.revived = 'id' in command ? command.id : '';
    }
    if (event.type === 'attempt_succeeded') this.endedAt = at;
    if (event.type === 'task_ended' && at === this.endedAt) {
      this.note('a deadline at the very time of an end');
    }
    if (event.type === 'attempt_succeeded' && task !== undefined && task.stop !== '') {
      this.note('success after being told to stop');
    }
  }

  private attached({ resumed, lost, rejection }: AttachSessionReply): void {
    if (rejection !== undefined) return;
    if (lost.length > 0) this.note('a resume with a lease that was lost');
    if (resumed && this.boots > 1) this.note('a session came back after a restart');
  }

  private submitted({ known }: SubmitTasksReply): void {
    if (known === undefined) return;
    this.note('a submit was recognised by its key');
    const states = [...known.values()].map(({ state }) => TASK_STATES[state]);
    if (states.includes('succeeded')) this.note('a key of a task that had ended');
  }

  private reported(command: Command, { outcomes, found }: ReportAttemptsReply): void {
    if (!found) this.note('a report of a session that nobody knows');
    for (const outcome of outcomes) this.note(`a report was answered ${outcome}`);
    if ('capacity' in command) this.note('a worker changed its offer');
  }

  private note(situation: string): void {
    this.situations.note(situation);
  }
}

function nameOf(event: Event): string {
  if (event.type === 'task_ended') return `task_ended ${TASK_STATES[event.state]}`;
  if (event.type === 'run_ended') return `run_ended ${RUN_STATES[event.state]}`;
  if (event.type === 'step_ended') {
    return `step_ended ${STEP_KINDS[event.kind]} ${STEP_STATES[event.state]}`;
  }
  if (event.type === 'run_stopping' || event.type.startsWith('schedule_')) return event.type;
  if ('reason' in event) return `${event.type} ${REASONS[event.reason]}`;
  if (event.type === 'attempt_failed') {
    return event.retryAt === 0 ? 'attempt_failed for good' : 'attempt_failed and again';
  }
  return event.type;
}
