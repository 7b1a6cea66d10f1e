export type {
  AccessCommand,
  Author,
  CreateAccessKey,
  CreateAccessKeyReply,
  RevokeAccessKey,
  RevokeAccessKeyReply,
} from './access-commands.ts';
export { type AccessKey, hasExpired, isOver } from './access-keys.ts';
export type { AuditRecord } from './audit-trail.ts';
export type { BeginAgain, RecordBackup } from './backup-commands.ts';
export { blobOf, blobReference, isBlobReference } from './blob-reference.ts';
export type {
  CallbackCommand,
  RecordDelivery,
  RecordDeliveryReply,
  RedeliverCallbacks,
  RedeliverCallbacksReply,
} from './callback-commands.ts';
export type {
  AdvanceTime,
  AttachSession,
  AttachSessionReply,
  Command,
  DedupeClaims,
  DetachSession,
  DisconnectSession,
  DrainSession,
  ExpireSessions,
  HearSessions,
  KnownTask,
  Replies,
  Report,
  ReportAttempts,
  ReportAttemptsReply,
  ReportKind,
  ReportOutcome,
  SessionRead,
  SubmitTasks,
  SubmitTasksReply,
  TaskSpec,
} from './command.ts';
export {
  isLabelName,
  isLabelValue,
  LABEL_RULE,
  parseConstraint,
  VALUE_RULE,
} from './constraints.ts';
export { DELIVERY_FAILURES, type DeliveryFailure, NO_FAILURE } from './delivery-failures.ts';
export { deliveryIdText, parseDeliveryId } from './delivery-id.ts';
export {
  type Event,
  PATCHED_INPUT,
  PATCHED_PRIORITY,
  PATCHED_RUN_AT,
  PATCHED_TAGS,
  PATCHED_TIMEOUTS,
  type PayloadRange,
} from './event.ts';
export { EventDecoder, UnknownEventError } from './event-codec.ts';
export type { Explanation } from './explain.ts';
export { findTask } from './find-task.ts';
export {
  type HolderIndex,
  type LeaseNumber,
  NO_SLOT,
  type SessionId,
  type Slot,
  type TaskNumber,
} from './ids.ts';
export { InvariantError, invariant, unreachable } from './invariant.ts';
export type { Progress } from './lease-activity.ts';
export {
  LEASE_TOKEN_LENGTH,
  leaseTokenText,
  parseLeaseToken,
  writeLeaseToken,
} from './lease-token.ts';
export { LimitError } from './limit-error.ts';
export { MATCHING_DEFAULTS, type MatchingOptions, pushCost, signalCost } from './matching.ts';
export type { Delivery } from './outbox.ts';
export type { Outputs } from './outputs.ts';
export { Partition, type PartitionOptions, type PartitionReader } from './partition.ts';
export { DEFAULT_NAMESPACE, namespaceOf, queueKey, taskTypeOf } from './queue-key.ts';
export { readEvents } from './read-events.ts';
export { RecordWriter } from './record-writer.ts';
export { hasThreeDecimals, type Resources } from './resources.ts';
export { parseRetry } from './retry-policy.ts';
export type { SessionView } from './session-view.ts';
export { parseShape, type Shape } from './shape.ts';
export { SNAPSHOT_SCHEMA, SnapshotError } from './snapshot-archive.ts';
export type { PartitionLimits, ReadonlyQueue, ReadonlyState } from './state.ts';
export { StateHashError } from './state-hash.ts';
export type {
  CancelTasks,
  CancelTasksReply,
  DiscardDeadLetters,
  DiscardDeadLettersReply,
  EndRedrive,
  EndRedriveReply,
  EndTask,
  EndTaskReply,
  PatchRejection,
  PatchTasks,
  PatchTasksReply,
  PauseTask,
  PauseTaskReply,
  PutTaskType,
  PutTaskTypeReply,
  ReadmitTask,
  ReadmitTaskReply,
  ResumeTask,
  RetryTasks,
  RetryTasksReply,
  SetQueuePaused,
  SetQueuePausedReply,
  SignalTask,
  SignalTaskReply,
  StartRedrive,
  StartRedriveReply,
  TaskCommand,
  TaskOutcome,
  TaskPatch,
} from './task-commands.ts';
export { parseTaskId, TASK_ID_LENGTH, type TaskKey, taskIdText, writeTaskId } from './task-id.ts';
export { type Callback, parseCallback, parseTags, type Tags } from './task-labels.ts';
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
} from './task-state.ts';
export { statedTimeouts, type Timeouts } from './timeouts.ts';
export type { Utf8 } from './utf8.ts';
