import type { HttpAnswer } from '../base/ports.ts';

/** One thing that is wrong with a request: where, as a JSON pointer, and what. */
export interface ErrorDetail {
  readonly path: string;
  readonly problem: string;
}

/** What an answer with an error says. */
export interface Refusal {
  readonly status: number;
  /** A code of the contract, or empty when something else than the server answered. */
  readonly code: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** A header that asks for more than this is not obeyed to the end: it would stop a worker. */
const RETRY_AFTER_MS_MAX = 60_000;

/** The JSON of an answer; `undefined` when it is none, and then the answer is worth nothing. */
export function jsonOf(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.text) as unknown;
  } catch {
    return undefined;
  }
}

export function refusalOf(answer: HttpAnswer): Refusal {
  const body = jsonOf(answer) as { error?: Partial<Refusal> } | null | undefined;
  const { code = '', message = `status ${answer.status}`, details = [] } = body?.error ?? {};
  return { status: answer.status, code, message, details };
}

/** Whether the same request may be taken a while later: nothing is wrong with it. */
export function isPassing({ status }: { readonly status: number }): boolean {
  return status === 429 || status >= 500;
}

/**
 * Whether the request has had no effect for certain: it was refused at the door. A server that
 * fails or stops while it works on it says so with another status, and cannot know its end.
 */
export function isUntouched({ status }: { readonly status: number }): boolean {
  return status < 500 || status === DISK_FULL;
}

const DISK_FULL = 507;

/** How long the server asks to be left alone; 0 when it does not say, or names a date. */
export function retryAfterMs(answer: HttpAnswer | undefined): number {
  const seconds = Number(answer?.retryAfter ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MS_MAX) : 0;
}
