export type { BackoffOptions } from './backoff.ts';
export { EventStreamParser, type StreamEvent } from './event-stream.ts';
export type { Ending, FinalKind, HandlerError } from './final-reports.ts';
export type { Refusal } from './http-answers.ts';
export type {
  Cancel,
  ClientPorts,
  HttpAnswer,
  HttpRequest,
  StreamListener,
  StreamPort,
} from './ports.ts';
export type { Outcome } from './report-outbox.ts';
export {
  type SubmitOutcome,
  type SubmittedTask,
  Submitter,
  type SubmitterOptions,
} from './submitter.ts';
export {
  type EndedTask,
  TaskWaits,
  type TaskWaitsOptions,
  type WaitOutcome,
} from './task-waits.ts';
export type { AbortReason, HandlerPort, SessionNotice, WorkerPorts } from './worker-ports.ts';
export {
  type Progress,
  WorkerSession,
  type WorkerSessionOptions,
  type WorkerTimes,
} from './worker-session.ts';
