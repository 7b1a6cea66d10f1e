/** What the command line asks of a server, and what it makes of the answers. */
import { EventStreamParser } from '@sluice/sdk/logic';

const DEFAULT_URL = 'http://127.0.0.1:7420';

/** Nobody answers at any of the addresses. Exit code 3. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError';
}

/** The server refused; the message is its own. Exit code 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
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

export interface ApiOptions {
  /** One address, or several with commas between them. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Calls the API of the first server that answers. */
export class ApiCaller {
  readonly urls: readonly string[];
  private readonly key: string | undefined;
  private readonly signal: AbortSignal;

  constructor({ url, env, signal }: ApiOptions) {
    const stated = url ?? env.SLUICE_URL ?? DEFAULT_URL;
    this.urls = stated
      .split(',')
      .map((each) => each.trim().replace(/\/+$/, ''))
      .filter((each) => each !== '');
    this.key = env.SLUICE_API_KEY;
    this.signal = signal;
  }

  get<T>(path: string): Promise<T> {
    return this.call<T>('GET', path);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.call<T>('POST', path, body);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.call<T>('PATCH', path, body);
  }

  /** Hands out the events of a stream until it ends. */
  async follow(path: string, onEvent: (name: string, data: unknown) => void): Promise<void> {
    const response = await this.reach('GET', path, undefined);
    if (!response.ok) throw refusal(response.status, parsed(await response.text()) as ErrorAnswer);
    const parser = new EventStreamParser(({ name, data }) => onEvent(name, JSON.parse(data)));
    for await (const chunk of response.body ?? []) parser.push(chunk);
  }

  private async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.reach(method, path, body);
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : parsed(text);
    if (response.ok) return answer as T;
    throw refusal(response.status, answer as ErrorAnswer | undefined);
  }

  /** An address that cannot be reached is passed over; an answer is an answer. */
  private async reach(method: string, path: string, body: unknown): Promise<Response> {
    const why: string[] = [];
    for (const url of this.urls) {
      try {
        return await fetch(`${url}${path}`, {
          method,
          signal: this.signal,
          headers: this.key === undefined ? {} : { authorization: `Bearer ${this.key}` },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      } catch (cause) {
        if (this.signal.aborted) throw cause;
        why.push(`${url} (${reasonOf(cause as Error)})`);
      }
    }
    throw new NoServerError(
      `no server answers at ${why.join(' or ')}; start one with 'sluice dev', or say where it is ` +
        'with --url or SLUICE_URL',
    );
  }
}

function reasonOf(error: Error): string {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? cause?.message ?? error.message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refusal(status: number, answer: ErrorAnswer | undefined): RefusedError {
  const { code = `status ${status}`, message = 'what answers is no Sluice server' } =
    answer?.error ?? {};
  // The message names the first problem; the others are worth a line each.
  const more = (answer?.error?.details ?? []).slice(1).map(({ path, problem }) => {
    return `\n  ${path} ${problem}`;
  });
  return new RefusedError(code, `${message} (${code})${more.join('')}`);
}
