import type { PushedTask } from '@sluice/protocol';
import type { ClientPorts, StreamPort } from '../base/ports.ts';
import type { Refusal } from '../calls/http-answers.ts';
import type { FinalKind } from './final-reports.ts';
import type { Outcome } from './report-outbox.ts';

/** Why a handler has to stop. */
export type AbortReason =
  | {
      readonly type: 'cancelled' | 'timed_out';
      /** How long the server waits for it. */
      readonly graceMs: number;
      /** The word of the server, or `run_timeout` when this side looked at the clock. */
      readonly reason: string;
    }
  /** The task is somebody else's now, and nothing that the handler says counts. */
  | { readonly type: 'lease_lost' }
  /** The worker stops and has waited for as long as it was told to. */
  | { readonly type: 'stopping' };

/** The owner of the handlers. Each run ends by one call of `WorkerSession.finish`. */
export interface HandlerPort {
  run(task: PushedTask): void;
  /** Called at the most once for a lease. */
  abort(lease: string, reason: AbortReason): void;
  signal(lease: string, name: string, data: unknown): void;
}

export type SessionNotice =
  | {
      readonly type: 'welcomed';
      readonly sessionId: string;
      readonly resumed: boolean;
      readonly address: number;
    }
  | { readonly type: 'disconnected'; readonly why: string; readonly retryInMs: number }
  /** A final report has been answered, once for each lease that ended with one. */
  | {
      readonly type: 'report_answered';
      readonly lease: string;
      readonly kind: FinalKind;
      readonly outcome: Outcome | 'invalid';
    }
  | { readonly type: 'offer_refused'; readonly refusal: Refusal }
  /** Lines that a handler wrote are lost. */
  | { readonly type: 'lines_refused' }
  /** The last notice: the session was stopped, or the server would not have it. */
  | { readonly type: 'over'; readonly refusal?: Refusal };

export interface WorkerPorts extends ClientPorts, StreamPort, HandlerPort {
  /** What the wall clock says, in milliseconds; only told to people. */
  wallTime(): number;
  notify(notice: SessionNotice): void;
}
