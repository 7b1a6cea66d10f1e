export type { BackoffOptions } from './backoff.ts';
export { EventStreamParser, type StreamEvent } from './event-stream.ts';
export type { Ending, FinalKind, HandlerError } from './final-reports.ts';
export type { Refusal } from './http-answers.ts';
export type {
  Cancel,
  ChancePort,
  HttpAnswer,
  HttpPort,
  HttpRequest,
  StreamListener,
  TimePort,
} from './ports.ts';
export type { Outcome } from './report-outbox.ts';
export type { AbortReason, HandlerPort, SessionNotice, WorkerPorts } from './worker-ports.ts';
export {
  type Progress,
  WorkerSession,
  type WorkerSessionOptions,
  type WorkerTimes,
} from './worker-session.ts';
