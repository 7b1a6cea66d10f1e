export type { BackoffOptions } from './base/backoff.ts';
export { certificateProblem, connectProblem, isUnsent } from './base/connect-problems.ts';
export type {
  Cancel,
  ClientPorts,
  HttpAnswer,
  HttpRequest,
  RequestKey,
  StreamListener,
  StreamPort,
} from './base/ports.ts';
export { EventStreamParser, type StreamEvent } from './calls/event-stream.ts';
export type { Refusal } from './calls/http-answers.ts';
export {
  type SubmitOutcome,
  type SubmittedTask,
  Submitter,
  type SubmitterOptions,
} from './client/submitter.ts';
export {
  type EndedTask,
  TaskWaits,
  type TaskWaitsOptions,
  type WaitOutcome,
} from './client/task-waits.ts';
export { TaskAborted } from './task/failures.ts';
export type { Ending, FinalKind, HandlerError } from './worker/final-reports.ts';
export type { Outcome } from './worker/report-outbox.ts';
export type {
  AbortReason,
  HandlerPort,
  SessionNotice,
  WorkerPorts,
} from './worker/worker-ports.ts';
export {
  type Progress,
  WorkerSession,
  type WorkerSessionOptions,
  type WorkerTimes,
} from './worker/worker-session.ts';
