import type { PushedTask } from '@sluice/protocol';
import type { ClientPorts, StreamPort } from '../base/ports.ts';
import type { Refusal } from '../calls/http-answers.ts';
import type { FinalKind } from './final-reports.ts';
import type { Outcome } from './report-outbox.ts';

/** Why a handler must stop. */
export type AbortReason =
  | {
      readonly type: 'cancelled' | 'timed_out';
      /** How long the server waits for it. */
      readonly graceMs: number;
      /** The server's reason, or `run_timeout` when the worker's own timer fired. */
      readonly reason: string;
    }
  /** Another worker may have the task now, and the handler's reports no longer count. */
  | { readonly type: 'lease_lost' }
  /** The worker stops and its grace period is over. */
  | { readonly type: 'stopping' };

/** Runs the handlers. Each run ends with one call of `WorkerSession.finish`. */
export interface HandlerPort {
  run(task: PushedTask): void;
  /** Called at most once per lease. */
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
  /** A final report was answered; once for each lease that ended with one. */
  | {
      readonly type: 'report_answered';
      readonly lease: string;
      readonly kind: FinalKind;
      readonly outcome: Outcome | 'invalid';
    }
  | { readonly type: 'offer_refused'; readonly refusal: Refusal }
  /** Lines of a handler are lost. */
  | { readonly type: 'lines_refused' }
  /** The last notice: the session was stopped, or the server refused it. */
  | { readonly type: 'over'; readonly refusal?: Refusal };

export interface WorkerPorts extends ClientPorts, StreamPort, HandlerPort {
  /** Wall time in milliseconds; only for display. */
  wallTime(): number;
  notify(notice: SessionNotice): void;
}
