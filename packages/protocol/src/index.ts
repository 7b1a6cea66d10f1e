export { type KeyParams, KeyRequest } from './access-schemas.ts';
export { BlobHash, BlobParams } from './blob-schemas.ts';
export { brokenText, repeatedName } from './body-rules.ts';
export { isCallbackSecret, SECRET_RULE, secretBase64 } from './callback-rules.ts';
export { CallbackQuery, type CallbackView, RedeliverRequest } from './callback-schemas.ts';
export { ERROR_CODES, type ErrorCode } from './error-codes.ts';
export { ErrorBody } from './error-schema.ts';
export { inexactPayload } from './exact-numbers.ts';
export { isSessionId } from './id-schemas.ts';
export { LIMITS, PING_AFTER_MS } from './limits.ts';
export { mergePatch } from './merge-patch.ts';
export { openApiDocument } from './openapi.ts';
export {
  DeadLetterGroupQuery,
  DeadLetterQuery,
  DiscardRequest,
  QueuePatch,
  type RedriveParams,
  RedriveRequest,
  StatsQuery,
  TypeParams,
  type WorkerParams,
} from './operation-schemas.ts';
export { Capacity } from './resource-schemas.ts';
export { ACCESS, type Access, mayCall, ROLES, type Role } from './roles.ts';
export { BYTES, type Route } from './route.ts';
export { ROUTES, type RouteName } from './routes.ts';
export { patternProblem, unionProblem, type WordedSchema } from './schema-words.ts';
export { type ErrorDetail, SluiceError } from './sluice-error.ts';
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
  SignalRequest,
  type TaskFilter,
  TaskListQuery,
  WaitTasksRequest,
} from './task-operation-schemas.ts';
export {
  checkDefinition,
  checkResources,
  checkTask,
  NOT_MERGED,
  patchProblems,
  timeProblems,
} from './task-rules.ts';
export {
  SubmitQuery,
  TaskDefinition,
  TaskParams,
  TaskPatch,
  TaskPatchOf,
  TaskRequest,
  TaskRequests,
  WaitQuery,
} from './task-schemas.ts';
export { CancelNotice, PushedTask, SignalNotice, Welcome } from './worker-event-schemas.ts';
export {
  REPORT_SCHEMAS,
  type ReportRequest,
  SessionParams,
  WorkerSessionRequest,
} from './worker-schemas.ts';
