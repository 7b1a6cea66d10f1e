import type { HttpAnswer, SendProblem } from '../base/ports.ts';

/** One problem of a request: its place as a JSON pointer, and a description. */
export interface ErrorDetail {
  readonly path: string;
  readonly problem: string;
}

/** The content of an error answer. */
export interface Refusal {
  readonly status: number;
  /** A code of the API, or empty when something other than the server answered. */
  readonly code: string;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** Upper limit of the `Retry-After` header: a longer pause would stop a worker. */
const RETRY_AFTER_MS_MAX = 60_000;

/** The JSON of an answer, or `undefined` when it is not JSON; then the answer does not count. */
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

/** Whether the same request may succeed later: there is nothing wrong with it. */
export function isPassing({ status }: { readonly status: number }): boolean {
  return status === 429 || status >= 500;
}

/**
 * Whether the request certainly had no effect, because it was refused at once. A server that fails
 * or stops while it handles a request answers with another status, and cannot know the result.
 */
export function isUntouched({ status }: { readonly status: number }): boolean {
  return status < 500 || status === DISK_FULL;
}

const DISK_FULL = 507;

/** Whether no further try will succeed. With several addresses, the next one may be trusted. */
export function isHopeless(problem: SendProblem | undefined, addresses: number): boolean {
  return problem?.isUntrusted === true && addresses === 1;
}

/** How long the server asks the client to wait; 0 when the header is absent or a date. */
export function retryAfterMs(answer: HttpAnswer | undefined): number {
  const seconds = Number(answer?.retryAfter ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, RETRY_AFTER_MS_MAX) : 0;
}

/** A problem as text. */
export function problemText({ path, problem }: ErrorDetail): string {
  return path === '' ? problem : `${path} ${problem}`;
}

/**
 * The refusal with these details instead of its own, also in its message: the server's message
 * names the first of its details.
 */
export function withDetails(refusal: Refusal, details: readonly ErrorDetail[]): Refusal {
  const [named] = refusal.details;
  const at = named === undefined ? -1 : refusal.message.indexOf(problemText(named));
  if (at < 0 || details.length === 0) return { ...refusal, details };
  const [first] = details;
  const what = at === 0 && first.path === '' ? 'the task ' : refusal.message.slice(0, at);
  return { ...refusal, message: `${what}${problemText(first)}`, details };
}
