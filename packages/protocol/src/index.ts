export { ERROR_CODES, type ErrorCode } from './error-codes.ts';
export { ErrorBody } from './error-schema.ts';
export { LIMITS, PING_AFTER_MS } from './limits.ts';
export { openApiDocument } from './openapi.ts';
export { Capacity } from './resource-schemas.ts';
export { ROUTES, type Route, type RouteName } from './routes.ts';
export { type ErrorDetail, SluiceError } from './sluice-error.ts';
export {
  SubmitQuery,
  TaskParams,
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
