/** Fields of task answers that the command line reads. */

export interface Task {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly reason: string;
  readonly priority: number;
  readonly attempt: number;
  readonly submittedAt: string;
  readonly runAt: string | null;
  readonly endedAt: string | null;
  readonly cancelRequestedAt: string | null;
  readonly progress: { readonly fraction: number; readonly message: string } | null;
  /** Absent when the input is a blob. */
  readonly input?: unknown;
  readonly inputBlob?: string;
  readonly output?: unknown;
  readonly outputBlob?: string;
  readonly error: { readonly message: string; readonly code?: string } | null;
  readonly attempts: readonly { readonly worker: string; readonly outcome: string | null }[];
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export interface Queue {
  readonly type: string;
  readonly paused: boolean;
  readonly depth: number;
  readonly depthByPriority: readonly number[];
  readonly oldestAgeMs: number | null;
  readonly leased: number;
  readonly deadLetters: number;
  readonly inPerSec: number;
  readonly outPerSec: number;
  readonly workers: number;
}

export interface Worker {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly connected: boolean;
  readonly draining: boolean;
  readonly heardAt: string;
  readonly types: readonly { readonly type: string; readonly leased: number }[];
  readonly capacity: { readonly slots?: number };
  readonly used: { readonly slots?: number };
}

export const TERMINAL: readonly string[] = [
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
];
