import type { Decision } from '../decision/decision.ts';
import { decideCreateAccessKey } from './access/create-access-key.ts';
import { decideRevokeAccessKey } from './access/revoke-access-key.ts';
import { decideReportAttempts } from './attempts/report-attempts.ts';
import { decideRecordBackup } from './backup/record-backup.ts';
import { decideResetAfterRestore } from './backup/reset-after-restore.ts';
import { decideRecordDelivery } from './callbacks/record-delivery.ts';
import { decideRedeliver } from './callbacks/redeliver-callbacks.ts';
import { decideDiscardDeadLetters } from './dead-letters/discard-dead-letters.ts';
import { decideEndRedrive, decideStartRedrive } from './dead-letters/redrive-tasks.ts';
import { decidePutTaskType } from './queues/put-task-type.ts';
import { decideSetQueuePaused } from './queues/set-queue-paused.ts';
import { decideCancelRuns } from './runs/cancel-runs.ts';
import { decidePauseRuns } from './runs/pause-runs.ts';
import { decideDeleteWorkflow, decidePutWorkflow } from './runs/put-workflow.ts';
import { decideReadmitRun, type ReadmitRun } from './runs/readmit-run.ts';
import { decideReviveRun, type ReviveRun } from './runs/revive-run.ts';
import { decideStartRuns, type StartRuns } from './runs/start-runs.ts';
import { decideEndBackfill, decideStartBackfill } from './schedules/backfill-schedules.ts';
import { type ChangeSchedules, decideChangeSchedules } from './schedules/change-schedules.ts';
import { decidePauseSchedules, decideTriggerSchedule } from './schedules/operate-schedules.ts';
import { decideAttachSession } from './sessions/attach-session.ts';
import { decideDetachSession, decideExpireSessions } from './sessions/end-sessions.ts';
import { decideRenewSessions } from './sessions/renew-sessions.ts';
import {
  decideDisconnectSession,
  decideDrainSession,
  decideSessionRead,
} from './sessions/session-stream.ts';
import { decideOperateStep, type OperateStep } from './steps/operate-step.ts';
import { decideScriptsEvaluated } from './steps/script-evaluated.ts';
import { decideCancelTasks } from './tasks/cancel-tasks.ts';
import { decideEndTask } from './tasks/end-task.ts';
import { decidePatchTasks } from './tasks/patch-tasks.ts';
import { decidePauseTask, decideResumeTask } from './tasks/pause-tasks.ts';
import { decideReadmitTask, type ReadmitTask } from './tasks/readmit-task.ts';
import { decideRetryTasks } from './tasks/retry-tasks.ts';
import { decideSignalTask } from './tasks/signal-task.ts';
import { decideSubmitTasks, type SubmitTasks } from './tasks/submit-tasks.ts';
import { decideAdvanceTime } from './time/advance-time.ts';

/**
 * Decides which commands are refused first when the disk falls behind (L9). `internal` commands
 * come from the server itself and are never refused: they are few, and refusing them only delays
 * what they report.
 */
export type CommandAdmission = 'submit' | 'operate' | 'report' | 'internal';

interface CommandDeclaration {
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own type.
  readonly decide: (decision: Decision, command: any) => unknown;
  readonly admission: CommandAdmission;
  /**
   * Present for commands that may bring payloads. Finished tasks leave memory before such a
   * command, until this many more bytes fit.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly addedBytes?: (command: any) => number;
}

/** Operations on existing tasks, queues, task types and dead letters. */
const TASK_COMMANDS = {
  cancel_tasks: { decide: decideCancelTasks, admission: 'operate' },
  patch_tasks: { decide: decidePatchTasks, admission: 'operate' },
  pause_task: { decide: decidePauseTask, admission: 'operate' },
  resume_task: { decide: decideResumeTask, admission: 'operate' },
  retry_tasks: { decide: decideRetryTasks, admission: 'operate' },
  readmit_task: {
    decide: decideReadmitTask,
    admission: 'operate',
    addedBytes: ({ input }: ReadmitTask) => input.length,
  },
  end_task: { decide: decideEndTask, admission: 'report' },
  signal_task: { decide: decideSignalTask, admission: 'operate' },
  set_queue_paused: { decide: decideSetQueuePaused, admission: 'operate' },
  put_task_type: { decide: decidePutTaskType, admission: 'operate' },
  start_redrive: { decide: decideStartRedrive, admission: 'operate' },
  end_redrive: { decide: decideEndRedrive, admission: 'operate' },
  discard_dead_letters: { decide: decideDiscardDeadLetters, admission: 'operate' },
} as const satisfies Record<string, CommandDeclaration>;

/** Workflows and their runs. */
const RUN_COMMANDS = {
  put_workflow: { decide: decidePutWorkflow, admission: 'operate' },
  delete_workflow: { decide: decideDeleteWorkflow, admission: 'operate' },
  start_runs: {
    decide: decideStartRuns,
    admission: 'submit',
    addedBytes: ({ runs, inputEnds }: StartRuns) => inputEnds[runs.length - 1] ?? 0,
  },
  cancel_runs: { decide: decideCancelRuns, admission: 'operate' },
  pause_runs: { decide: decidePauseRuns, admission: 'operate' },
  operate_step: {
    decide: decideOperateStep,
    admission: 'operate',
    addedBytes: ({ payload }: OperateStep) => payload.length,
  },
  revive_run: {
    decide: decideReviveRun,
    admission: 'operate',
    addedBytes: ({ input }: ReviveRun) => input.length,
  },
  readmit_run: {
    decide: decideReadmitRun,
    admission: 'operate',
    addedBytes: ({ input }: ReadmitRun) => input.length,
  },
  scripts_evaluated: { decide: decideScriptsEvaluated, admission: 'internal' },
} as const satisfies Record<string, CommandDeclaration>;

/** Schedules. */
const SCHEDULE_COMMANDS = {
  change_schedules: {
    decide: decideChangeSchedules,
    admission: 'operate',
    addedBytes: ({ inputs }: ChangeSchedules) => inputs.length,
  },
  pause_schedules: { decide: decidePauseSchedules, admission: 'operate' },
  trigger_schedule: { decide: decideTriggerSchedule, admission: 'operate', addedBytes: () => 0 },
  start_backfill: { decide: decideStartBackfill, admission: 'operate' },
  end_backfill: { decide: decideEndBackfill, admission: 'operate' },
} as const satisfies Record<string, CommandDeclaration>;

/** Operations of an admin on access keys. */
const ACCESS_COMMANDS = {
  create_access_key: { decide: decideCreateAccessKey, admission: 'operate' },
  revoke_access_key: { decide: decideRevokeAccessKey, admission: 'operate' },
} as const satisfies Record<string, CommandDeclaration>;

/** Results and retries of callback deliveries. */
const CALLBACK_COMMANDS = {
  record_delivery: { decide: decideRecordDelivery, admission: 'internal' },
  redeliver_callbacks: { decide: decideRedeliver, admission: 'operate' },
} as const satisfies Record<string, CommandDeclaration>;

/** Backup and restore. */
const BACKUP_COMMANDS = {
  record_backup: { decide: decideRecordBackup, admission: 'operate' },
  reset_after_restore: { decide: decideResetAfterRestore, admission: 'internal' },
} as const satisfies Record<string, CommandDeclaration>;

/** Reports of workers and changes of their sessions. */
const WORKER_COMMANDS = {
  report_attempts: { decide: decideReportAttempts, admission: 'report', addedBytes: () => 0 },
  attach_session: { decide: decideAttachSession, admission: 'operate' },
  detach_session: { decide: decideDetachSession, admission: 'operate' },
  drain_session: { decide: decideDrainSession, admission: 'operate' },
  disconnect_session: { decide: decideDisconnectSession, admission: 'internal' },
  session_read: { decide: decideSessionRead, admission: 'internal' },
  expire_sessions: { decide: decideExpireSessions, admission: 'internal' },
  renew_sessions: { decide: decideRenewSessions, admission: 'internal' },
} as const satisfies Record<string, CommandDeclaration>;

/** Every command. The types below are derived from this map. */
export const COMMANDS = {
  submit_tasks: {
    decide: decideSubmitTasks,
    admission: 'submit',
    addedBytes: ({ tasks, inputEnds }: SubmitTasks) => inputEnds[tasks.length - 1] ?? 0,
  },
  advance_time: { decide: decideAdvanceTime, admission: 'internal', addedBytes: () => 0 },
  ...TASK_COMMANDS,
  ...RUN_COMMANDS,
  ...SCHEDULE_COMMANDS,
  ...ACCESS_COMMANDS,
  ...CALLBACK_COMMANDS,
  ...BACKUP_COMMANDS,
  ...WORKER_COMMANDS,
} as const satisfies Record<string, CommandDeclaration>;

type CommandOf<Map extends Record<string, CommandDeclaration>> = {
  [T in keyof Map]: Parameters<Map[T]['decide']>[1];
}[keyof Map];

/** Everything that can change a partition. Time comes with each command (L3). */
export type Command = CommandOf<typeof COMMANDS>;

export type TaskCommand = CommandOf<typeof TASK_COMMANDS>;
export type RunCommand = CommandOf<typeof RUN_COMMANDS>;
export type ScheduleCommand = CommandOf<typeof SCHEDULE_COMMANDS>;
export type AccessCommand = CommandOf<typeof ACCESS_COMMANDS>;
export type CallbackCommand = CommandOf<typeof CALLBACK_COMMANDS>;
export type BackupCommand = CommandOf<typeof BACKUP_COMMANDS>;

/** The reply of each command. */
export type Replies = {
  readonly [T in keyof typeof COMMANDS]: ReturnType<(typeof COMMANDS)[T]['decide']>;
};
