import { connectProblem, isUnsent } from '@sluice/sdk/logic';

/** No server answers at any of the addresses, or not completely. Exit code 3. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

/** A server answers that is not Sluice, so waiting is useless. Exit code 3. */
export class StrangeServerError extends Error {
  override readonly name = 'StrangeServerError';
}

/** The server refused the request; the message is the server's. Exit code 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** The server's code; empty when the command line itself refuses. */
  readonly code: string;

  constructor(message: string, { code = '', ...options }: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.code = code;
  }
}

interface ErrorAnswer {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly details?: readonly { readonly path: string; readonly problem: string }[];
  };
}

/** Statuses of a proxy whose server is unreachable. */
const AWAY_STATUSES: readonly number[] = [502, 503, 504];

export function refusal(url: string, status: number, answer: unknown): Error {
  const { code, message, details = [] } = (answer as ErrorAnswer | undefined)?.error ?? {};
  if (typeof code !== 'string' || typeof message !== 'string') {
    if (AWAY_STATUSES.includes(status)) {
      return new NoServerError(`no server answers behind ${url} (status ${status})`);
    }
    return strange(url, `status ${status}`);
  }
  // The message names the first problem; each further one gets a line.
  const more = details.slice(1).map(({ path, problem }) => `\n  ${path} ${problem}`);
  return new RefusedError(`${message} (${code})${more.join('')}`, { code });
}

export function strange(url: string, why: string): StrangeServerError {
  return new StrangeServerError(
    `${url} does not answer like a Sluice server (${why}); check --url and SLUICE_URL`,
  );
}

/** Why no server answered, in a few words. */
export function reasonOf(error: Error): string {
  if (error.name === 'TimeoutError') return 'no answer in time';
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return connectProblem(codeOf(error)) || (cause?.message ?? error.message);
}

/** The code of a failed connection; empty without one. */
export function codeOf(error: Error): string {
  return (error.cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** Codes of `fetch` for requests that failed before the first byte was sent. */
const UNSENT_BY_FETCH: readonly string[] = ['ERR_INVALID_URL', 'UND_ERR_CONNECT_TIMEOUT'];

export function mayHaveArrived(error: Error): boolean {
  const code = codeOf(error);
  return !isUnsent(code) && !UNSENT_BY_FETCH.includes(code);
}
