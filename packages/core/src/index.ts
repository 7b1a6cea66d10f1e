export { blobOf, blobReference, isBlobReference } from './base/blob-reference.ts';
export { deliveryIdText, parseDeliveryId } from './base/delivery-id.ts';
export {
  type HolderIndex,
  type LeaseNumber,
  NO_SLOT,
  type SessionId,
  type Slot,
  type TaskNumber,
} from './base/ids.ts';
export { InvariantError, invariant, unreachable } from './base/invariant.ts';
export {
  LEASE_TOKEN_LENGTH,
  leaseTokenText,
  parseLeaseToken,
  writeLeaseToken,
} from './base/lease-token.ts';
export { LEVEL, REQUEST_KEYS_LEVEL } from './base/level.ts';
export { LimitError } from './base/limit-error.ts';
export { DEFAULT_NAMESPACE, namespaceOf, queueKey, taskTypeOf } from './base/queue-key.ts';
export { parseRunId, runIdText } from './base/run-id.ts';
export {
  parseTaskId,
  TASK_ID_LENGTH,
  type TaskKey,
  taskIdText,
  writeTaskId,
} from './base/task-id.ts';
export type { Utf8 } from './base/utf8.ts';
export type { CreateAccessKey, CreateAccessKeyReply } from './commands/access/create-access-key.ts';
export type { RevokeAccessKey, RevokeAccessKeyReply } from './commands/access/revoke-access-key.ts';
export {
  type Report,
  type ReportAttempts,
  type ReportAttemptsReply,
  type ReportKind,
  type ReportOutcome,
  USAGE_FIGURES,
  type Usage,
} from './commands/attempts/report-attempts.ts';
export type { RecordBackup } from './commands/backup/record-backup.ts';
export type { ResetAfterRestore } from './commands/backup/reset-after-restore.ts';
export type { RecordDelivery, RecordDeliveryReply } from './commands/callbacks/record-delivery.ts';
export type {
  RedeliverCallbacks,
  RedeliverCallbacksReply,
} from './commands/callbacks/redeliver-callbacks.ts';
export {
  type AccessCommand,
  COMMANDS,
  type Command,
  type CommandAdmission,
  type Replies,
  type TaskCommand,
} from './commands/commands.ts';
export type {
  DiscardDeadLetters,
  DiscardDeadLettersReply,
} from './commands/dead-letters/discard-dead-letters.ts';
export type {
  EndRedrive,
  EndRedriveReply,
  StartRedrive,
  StartRedriveReply,
} from './commands/dead-letters/redrive-tasks.ts';
export type { PutTaskType, PutTaskTypeReply } from './commands/queues/put-task-type.ts';
export type { SetQueuePaused, SetQueuePausedReply } from './commands/queues/set-queue-paused.ts';
export type { CancelRuns, RunOutcome } from './commands/runs/cancel-runs.ts';
export type { PauseOutcome, PauseRuns } from './commands/runs/pause-runs.ts';
export type {
  DefinitionText,
  DeleteWorkflow,
  PutWorkflow,
  PutWorkflowReply,
} from './commands/runs/put-workflow.ts';
export type { ReadmitRun, ReadmitRunReply } from './commands/runs/readmit-run.ts';
export type { ReviveRun, ReviveRunReply } from './commands/runs/revive-run.ts';
export type { RunSpec, StartRuns, StartRunsReply, UnfitInput } from './commands/runs/start-runs.ts';
export type {
  EndBackfill,
  StartBackfill,
  StartBackfillReply,
} from './commands/schedules/backfill-schedules.ts';
export type {
  ChangeSchedules,
  ScheduleChange,
  ScheduleOutcome,
} from './commands/schedules/change-schedules.ts';
export { explainSchedule } from './commands/schedules/explain-schedule.ts';
export { SCHEDULE_TAG, SCHEDULED_AT_TAG } from './commands/schedules/make-work.ts';
export type {
  PauseSchedules,
  TriggerSchedule,
  TriggerScheduleReply,
} from './commands/schedules/operate-schedules.ts';
export {
  nextTimes,
  plannedTimes,
  type TimePorts,
  timesOf,
} from './commands/schedules/schedule-times.ts';
export {
  type ListedWork,
  numberOfWork,
  viewFire,
} from './commands/schedules/view-fire.ts';
export {
  madeId,
  scheduleStateOf,
  shownSettings,
  viewSchedule,
} from './commands/schedules/view-schedule.ts';
export type { AttachSession, AttachSessionReply } from './commands/sessions/attach-session.ts';
export type { DetachSession, ExpireSessions } from './commands/sessions/end-sessions.ts';
export type { RenewSessions } from './commands/sessions/renew-sessions.ts';
export type {
  DisconnectSession,
  DrainSession,
  SessionRead,
} from './commands/sessions/session-stream.ts';
export type { OperateStep, OperateStepReply } from './commands/steps/operate-step.ts';
export type { EvaluationResult, ScriptsEvaluated } from './commands/steps/script-evaluated.ts';
export type { CancelTasks, CancelTasksReply } from './commands/tasks/cancel-tasks.ts';
export type { NewInput } from './commands/tasks/change-input.ts';
export type { DedupeClaims } from './commands/tasks/duplicates.ts';
export type { EndTask, EndTaskReply } from './commands/tasks/end-task.ts';
export type {
  PatchRejection,
  PatchTasks,
  PatchTasksReply,
  TaskPatch,
} from './commands/tasks/patch-tasks.ts';
export type { PauseTask, PauseTaskReply, ResumeTask } from './commands/tasks/pause-tasks.ts';
export type { ReadmitTask, ReadmitTaskReply } from './commands/tasks/readmit-task.ts';
export { UNKNOWN_STATE } from './commands/tasks/request-keys.ts';
export type { RetryOutcome, RetryTasks, RetryTasksReply } from './commands/tasks/retry-tasks.ts';
export type { SignalTask, SignalTaskReply } from './commands/tasks/signal-task.ts';
export type { KnownTask, SubmitTasks, SubmitTasksReply } from './commands/tasks/submit-tasks.ts';
export type { AdvanceTime } from './commands/time/advance-time.ts';
export { ATTEMPT_OUTCOMES } from './decision/attempt-ends.ts';
export type { Author } from './decision/audit.ts';
export type { TaskOutcome } from './decision/command-fields.ts';
export { MATCHING_DEFAULTS, type MatchingOptions } from './decision/matching-options.ts';
export type { Outputs } from './decision/outputs.ts';
export { Branches, branchesOf } from './decision/runs/branches.ts';
export { childIdOf, parentIdOf, runIdOf } from './decision/runs/child-id.ts';
export type { EvaluationRequest } from './decision/runs/evaluation-request.ts';
export { hasRoomForFrame } from './decision/runs/frame-room.ts';
export { referenceOf } from './decision/runs/run-place.ts';
export { type StepPlace, stepPlaces } from './decision/runs/step-places.ts';
export { EventDecoder, UnknownEventError } from './events/event-codec.ts';
export { EVENTS, type Event, type EventOf } from './events/events.ts';
export type { EventDeclaration, Field } from './events/fields.ts';
export { readEvents } from './events/read-events.ts';
export { RecordWriter } from './events/record-writer.ts';
export {
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
} from './events/task-events.ts';
export { type BlobAnswer, blobsAsked, lookIntoBlobs } from './expressions/blob-questions.ts';
export type { Explanation } from './matching/explain.ts';
export { whyNoStep } from './matching/explain-step.ts';
export { pushCost, signalCost } from './matching/matching.ts';
export { Partition, type PartitionOptions, type PartitionReader } from './partition.ts';
export type { Calendar } from './schedule/calendar.ts';
export { anchorOf, NO_TIME, nextTime } from './schedule/fire-times.ts';
export {
  FIRE_CAUSES,
  FIRE_REASONS,
  type FireReason,
  MISFIRE_AFTER_MS,
  type RunTarget,
  type ScheduleSettings,
  type ScheduleSpec,
} from './schedule/schedule-settings.ts';
export { definitionSchemaProblems } from './schema/definition-schemas.ts';
export {
  SNAPSHOT_SCHEMA,
  SnapshotError,
  SnapshotVersionError,
} from './snapshot/snapshot-archive.ts';
export { StateHashError } from './snapshot/state-hash.ts';
export { type AccessKey, hasExpired, isOver } from './state/access/access-keys.ts';
export type { AuditRecord } from './state/access/audit-trail.ts';
export { findRun } from './state/find-run.ts';
export { findTask } from './state/find-task.ts';
export type { NamespaceUse } from './state/namespaces.ts';
export type { Delivery } from './state/outbox.ts';
export type { QuotaName, Quotas } from './state/quotas.ts';
export type { StoredProgram } from './state/runs/programs.ts';
export { isLive } from './state/schedules/live-works.ts';
export { inputOf, nameOf, settingsOf } from './state/schedules/read-schedule.ts';
export type { PartitionLimits, ReadonlyQueue, ReadonlyState } from './state/state.ts';
export type { PayloadRange } from './structures/payload-range.ts';
export {
  isLabelName,
  isLabelValue,
  LABEL_RULE,
  parseConstraint,
  VALUE_RULE,
} from './task/constraints.ts';
export {
  type DedupeClaim,
  EXISTING_DUPLICATE,
  REFUSE_DUPLICATE,
  REPLACE_DUPLICATE,
} from './task/dedupe-claim.ts';
export { DELIVERY_FAILURES, type DeliveryFailure, NO_FAILURE } from './task/delivery-failures.ts';
export { hasThreeDecimals, type Resources } from './task/resources.ts';
export { parseRetry } from './task/retry-policy.ts';
export { parseShape, type Shape } from './task/shape.ts';
export { type Callback, parseCallback, parseTags, type Tags } from './task/task-labels.ts';
export type { TaskSpec } from './task/task-spec.ts';
export {
  DEFAULT_PRIORITY,
  DEFERRED,
  FAILED,
  isDead,
  isHeld,
  isTerminal,
  LATER_ANSWER,
  LEASED,
  NO_ANSWER,
  nameOfAnswer,
  PAUSED,
  PRIORITY_LEVELS,
  QUEUED,
  REASONS,
  REFUSED_ANSWER,
  type Reason,
  RUNNING,
  SUCCEEDED,
  SUCCEEDED_ANSWER,
  TASK_STATES,
  type TaskState,
  TIMED_OUT,
  WAITING,
} from './task/task-state.ts';
export {
  areTextsSame,
  listTexts,
  namedTexts,
  specOfTexts,
  type TaskText,
} from './task/task-texts.ts';
export { statedTimeouts, type Timeouts } from './task/timeouts.ts';
export type { Progress } from './workers/lease-activity.ts';
export type { SessionView } from './workers/session-view.ts';
export { compileDefinition } from './workflow/compile.ts';
export { requestFields, wrongHttpFields } from './workflow/http-fields.ts';
export type { DefinitionProblem } from './workflow/problems.ts';
export {
  CALLBACK_TASK_TYPE,
  HTTP_TASK_TYPE,
  type Program,
  RUN_DELIVERIES,
  STEP_KINDS,
  type StepNode,
} from './workflow/program.ts';
export {
  EVALUATES_VALUES,
  isRunOver,
  RESET_KINDS,
  RUN_REASONS,
  RUN_RELATIONS,
  RUN_STATES,
  STEP_STATES,
} from './workflow/run-state.ts';
export { SCRIPT_GLOBALS } from './workflow/script-globals.ts';
