import { CALLBACK_TASK_TYPE, type Command, type Event, TASK_STATES } from '@sluice/core';
import type { LogStory } from '../story/log-story.ts';
import type { StoryRule, ToldCommand } from '../story/story-rule.ts';
import type { TaskStory } from '../story/task-story.ts';

type Causes = readonly Command['type'][];

/** Commands that free memory before they do anything else. */
const MAKE_ROOM: Causes = [
  'submit_tasks',
  'start_runs',
  'report_attempts',
  'advance_time',
  'readmit_task',
  'operate_step',
  'revive_run',
  'trigger_schedule',
  'change_schedules',
];

/** The commands that may cause each event. Any command may cause an event that is not listed. */
const CAUSES: { readonly [T in Event['type']]?: Causes } = {
  task_submitted: ['submit_tasks', 'advance_time', 'trigger_schedule'],
  task_readmitted: ['readmit_task'],
  task_patched: ['patch_tasks', 'submit_tasks', 'retry_tasks'],
  task_paused: ['pause_task'],
  task_resumed: ['resume_task'],
  task_due: ['advance_time'],
  task_forgotten: MAKE_ROOM,
  dedupe_forgotten: ['submit_tasks', 'start_runs', 'advance_time', 'trigger_schedule'],
  dedupe_input_changed: ['submit_tasks', 'retry_tasks', 'readmit_task'],
  request_remembered: ['submit_tasks'],
  queue_changed: ['set_queue_paused'],
  task_type_changed: ['put_task_type'],
  redrive_started: ['start_redrive'],
  numbers_skipped: ['reset_after_restore'],
  access_key_created: ['create_access_key'],
  access_key_expiry_set: ['create_access_key'],
  access_key_revoked: ['revoke_access_key'],
  redrive_ended: ['end_redrive', 'advance_time'],
  workflow_removed: ['delete_workflow'],
  run_started: ['start_runs', 'advance_time', 'trigger_schedule'],
  schedule_put: ['change_schedules'],
  schedule_removed: ['change_schedules'],
  schedule_changed: ['pause_schedules', 'advance_time'],
  schedule_fired: ['advance_time', 'trigger_schedule'],
  schedule_delayed: ['advance_time'],
  times_missed: ['advance_time'],
  backfill_started: ['start_backfill'],
  backfill_ended: ['end_backfill', 'change_schedules', 'advance_time'],
  run_forgotten: MAKE_ROOM,
  attempt_started: ['report_attempts'],
  attempt_succeeded: ['report_attempts'],
  attempt_used: ['report_attempts'],
  attempt_deferred: ['report_attempts'],
  attempt_failed: ['report_attempts'],
  attempt_timed_out: ['report_attempts', 'advance_time'],
  attempt_stopping: ['cancel_tasks', 'advance_time'],
  run_readmitted: ['readmit_run'],
  run_changed: ['pause_runs'],
  run_revived: ['revive_run', 'operate_step'],
  // A loop that finds no room for its next iteration asks for its condition again.
  steps_reset: ['revive_run', 'operate_step', 'scripts_evaluated'],
  step_skip_planned: ['operate_step'],
  step_key_kept: ['operate_step'],
  attempt_returned: ['report_attempts', 'attach_session', 'detach_session', 'expire_sessions'],
  attempts_exhausted: ['detach_session', 'expire_sessions'],
};

/** Commands that may end a task that is being cancelled, besides the cancel itself. */
const LET_GO: Causes = [
  'report_attempts',
  'advance_time',
  'attach_session',
  'detach_session',
  'expire_sessions',
];

/** Commands by which a schedule may cancel what it made. */
export const BY_SCHEDULE: Causes = ['advance_time', 'change_schedules', 'pause_schedules'];

/** I5, I42: nothing happens to a task but by what may do it. */
export class EventCauses implements StoryRule {
  private readonly story: LogStory;

  constructor(story: LogStory) {
    this.story = story;
  }

  event(event: Event, task: TaskStory | undefined, { command }: ToldCommand): void {
    const causes = this.isStopped(event, task, command.type) ? undefined : causesOf(event, task);
    const rule = event.type.startsWith('attempt') ? 'I5' : 'I42';
    this.story.simulation.check(causes?.includes(command.type) ?? true, rule, () => {
      return `${event.type} of task ${event.task} by ${command.type}`;
    });
  }

  /** Any command may go on with what is to be done for runs. A run that stops stops its tasks. */
  private isStopped(event: Event, task: TaskStory | undefined, by: Command['type']): boolean {
    if (task === undefined) return false;
    const isCancelled = event.type === 'task_ended' && TASK_STATES[event.state] === 'cancelled';
    if (event.type !== 'attempt_stopping' && !isCancelled) return false;
    const isBySchedule = BY_SCHEDULE.includes(by) && this.story.scheduledTasks.has(task.number);
    return isBySchedule || this.story.stoppingRuns.has(task.run);
  }
}

function causesOf(event: Event, task: TaskStory | undefined): Causes | undefined {
  switch (event.type) {
    case 'task_retried':
      return event.redrive === 0 ? ['retry_tasks', 'start_redrive'] : ['advance_time'];
    case 'dead_letter_dropped':
      return event.isOverflow ? MAKE_ROOM : ['discard_dead_letters'];
    case 'task_ended':
      return causesOfEnd(TASK_STATES[event.state], task);
    default:
      return CAUSES[event.type];
  }
}

function causesOfEnd(state: string, task: TaskStory | undefined): Causes | undefined {
  switch (state) {
    case 'expired':
      return undefined;
    case 'timed_out':
      return ['advance_time'];
    case 'cancelled':
      return task?.isCancelAsked ? [...LET_GO, 'end_task'] : ['cancel_tasks'];
    default:
      // A CALLBACK ends at once, or with its delivery.
      return task?.queue === CALLBACK_TASK_TYPE ? undefined : ['end_task', 'operate_step'];
  }
}
