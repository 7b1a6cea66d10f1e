export { ERROR_CODES, type ErrorCode } from './base/error-codes.ts';
export { COMMAND_TYPE, CONTAINER_TYPE, execTypeOf, setExecType } from './base/exec-types.ts';
export { LIMITS, PING_AFTER_MS } from './base/limits.ts';
export { mergePatch } from './base/merge-patch.ts';
export { OWNER_HEADER, ROLE_PATH, type ServerRole } from './base/owner.ts';
export { REQUEST_KEY_HEADER, REQUEST_WINDOW_HEADER } from './base/request-key.ts';
export { ACCESS, type Access, mayCall, ROLES, type Role } from './base/roles.ts';
export { BYTES, type Route, repeatability } from './base/route.ts';
export { type ErrorDetail, SluiceError } from './base/sluice-error.ts';
export { openApiDocument } from './openapi.ts';
export { ROUTES, type RouteName } from './routes/routes.ts';
export { brokenText, repeatedName } from './rules/body-rules.ts';
export { isCallbackSecret, SECRET_RULE, secretBase64 } from './rules/callback-rules.ts';
export { inexactPayload } from './rules/exact-numbers.ts';
export {
  type ParsedSchedule,
  type ScheduleRules,
  scheduleProblems,
  scheduleSettings,
  scheduleTime,
} from './rules/schedule-rules.ts';
export {
  meantForm,
  nameProblem,
  patternProblem,
  unionProblem,
  type WordedSchema,
} from './rules/schema-words.ts';
export {
  checkDefinition,
  checkResources,
  checkTask,
  NOT_MERGED,
  patchProblems,
  timeProblems,
} from './rules/task-rules.ts';
export {
  AuditQuery,
  type AuditView,
  type CallerView,
  type KeyParams,
  KeyRequest,
  type KeyView,
  LoginRequest,
  type NewKeyView,
} from './schemas/access-schemas.ts';
export { BlobHash, BlobParams } from './schemas/blob-schemas.ts';
export { CalendarQuery, type ScheduleCalendar } from './schemas/calendar-schemas.ts';
export { CallbackQuery, type CallbackView, RedeliverRequest } from './schemas/callback-schemas.ts';
export { ErrorBody } from './schemas/error-schema.ts';
export type { CommandExec, ContainerExec, Exec } from './schemas/exec-schemas.ts';
export { isSessionId } from './schemas/id-schemas.ts';
export {
  DeadLetterGroupQuery,
  DeadLetterQuery,
  DiscardRequest,
  QueuePatch,
  type QueueView,
  type RedriveParams,
  RedriveRequest,
  StatsQuery,
  TypeParams,
  type WorkerParams,
  type WorkerView,
} from './schemas/operation-schemas.ts';
export { Capacity, MeasuredUse } from './schemas/resource-schemas.ts';
export {
  CompleteStepRequest,
  FailStepRequest,
  RerunRequest,
  type RunExplanation,
  RunListQuery,
  type RunParams,
  RunRequest,
  type RunStepParams,
  type RunSummary,
  type RunView,
  type StartedRun,
  StartQuery,
  type StepView,
} from './schemas/run-schemas.ts';
export {
  BackfillAnswer,
  BackfillRequest,
  FireReason,
  FireView,
  Preview,
  PreviewQuery,
  PutScheduleQuery,
  ScheduleBatch,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleListQuery,
  ScheduleParams,
  SchedulePatch,
  ScheduleRequest,
  ScheduleView,
} from './schemas/schedule-schemas.ts';
export { CronSpec, EverySpec, OnceSpec, PermanentSpec } from './schemas/schedule-spec-schemas.ts';
export {
  CancelRequest,
  CancelTasksRequest,
  CompleteRequest,
  EventQuery,
  FailRequest,
  GetTasksRequest,
  ListQuery,
  LogQuery,
  NothingSaid,
  RetryRequest,
  RetryTasksRequest,
  SignalRequest,
  type TaskFilter,
  TaskListQuery,
  WaitTasksRequest,
} from './schemas/task-operation-schemas.ts';
export {
  SubmitHeaders,
  SubmitQuery,
  TaskDefinition,
  TaskParams,
  TaskPatch,
  TaskPatchOf,
  TaskRequest,
  TaskRequests,
  WaitQuery,
} from './schemas/task-schemas.ts';
export type { TaskView, Usage } from './schemas/task-view-schemas.ts';
export { CancelNotice, PushedTask, SignalNotice, Welcome } from './schemas/worker-event-schemas.ts';
export {
  OfferedTypes,
  REPORT_SCHEMAS,
  type ReportRequest,
  SessionParams,
  WorkerSessionRequest,
} from './schemas/worker-schemas.ts';
export {
  PutWorkflowQuery,
  StepOptions,
  VersionParams,
  type WorkflowChange,
  WorkflowParams,
  type WorkflowVersionView,
  type WorkflowView,
} from './schemas/workflow-schemas.ts';
