/** Calls the API of a server and interprets the answers. */
import { createHash } from 'node:crypto';
import { certificateProblem, EventStreamParser } from '@sluice/sdk/logic';
import { UsageError } from '../base/usage-error.ts';
import { codeOf, mayHaveArrived, NoServerError, reasonOf, refusal, strange } from './api-errors.ts';

/** A connection that was made and ended without an answer, as one without TLS to a TLS port. */
const BROKEN = /UND_ERR_SOCKET|ECONNRESET|HPE_/;
const USE_TLS = 'if it speaks TLS, its address begins with https://';

function mayNeedTls(url: string, reason: string): boolean {
  return url.startsWith('http:') && BROKEN.test(reason);
}

const DEFAULT_URL = 'http://127.0.0.1:7420';

/** An address that is silent for this long is skipped, when there is another one. */
const NEXT_AFTER_MS = 5000;

/** The last address may be busy, and there is no other one to ask. */
const SILENT_MS_MAX = 30_000;

/** Maximum silence of a stream: the server sends something every few seconds. */
const STREAM_SILENT_MS_MAX = 60_000;

/** Maximum time for writing one piece: a disk that hangs for longer is not waited for. */
const TAKING_MS_MAX = 3_600_000;

/** Transferring tens of megabytes takes time. */
const BLOB_MS = 120_000;

/** A payload that was uploaded. */
export interface UploadedBlob {
  readonly sha256: string;
  readonly bytes: number;
}

export interface ApiOptions {
  /** One address, or several separated by commas. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** A body that is sent as it is. */
  readonly content?: string | Uint8Array;
  /** How long the server may deliberately take. */
  readonly waitMs?: number;
  /** Not safe to repeat: it is not sent again once it may have arrived. */
  readonly isOnce?: boolean;
}

interface Answer {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

type Field<T> = Extract<keyof T, string>;

/**
 * Calls the API of the first server that answers, and stays with it. Each call names the fields
 * that an answer of Sluice must have.
 */
export class ApiCaller {
  /** The address that answered last comes first. */
  private urls: readonly string[];
  private readonly key: string | undefined;
  private readonly signal: AbortSignal;

  constructor({ url, env, signal }: ApiOptions) {
    const urls = (url ?? env.SLUICE_URL ?? '')
      .split(',')
      .map((each) => addressOf(each.trim()))
      .filter((each) => each !== '');
    for (const each of urls) {
      refusePassword(each);
      refuseOdd(each);
    }
    this.urls = urls.length === 0 ? [DEFAULT_URL] : urls;
    this.key = keyOf(env.SLUICE_API_KEY);
    this.signal = signal;
  }

  get url(): string {
    return this.urls[0];
  }

  get<T>(path: string, fields: readonly Field<T>[], waitMs = 0): Promise<T> {
    return this.call<T>({ method: 'GET', path, waitMs }, fields);
  }

  /** For calls that are safe to repeat. */
  post<T>(path: string, fields: readonly Field<T>[], body?: unknown): Promise<T> {
    return this.call<T>({ method: 'POST', path, body }, fields);
  }

  /** For calls that are not safe to repeat. */
  postOnce<T>(path: string, fields: readonly Field<T>[], body?: unknown): Promise<T> {
    return this.call<T>({ method: 'POST', path, body, isOnce: true }, fields);
  }

  put<T>(path: string, fields: readonly Field<T>[], body: unknown): Promise<T> {
    return this.call<T>({ method: 'PUT', path, body }, fields);
  }

  patch<T>(path: string, fields: readonly Field<T>[], body: unknown): Promise<T> {
    return this.call<T>({ method: 'PATCH', path, body }, fields);
  }

  /** A repeated delete would report that nothing was found, so it is not sent again. */
  async delete(path: string): Promise<void> {
    await this.call<object>({ method: 'DELETE', path, isOnce: true }, []);
  }

  /** Uploads the JSON of a payload that is too big for another call. */
  putBlob(content: string | Uint8Array): Promise<UploadedBlob> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const call = { method: 'PUT', path: `/v1/blobs/${sha256}`, content, waitMs: BLOB_MS } as const;
    return this.call<UploadedBlob>(call, ['sha256', 'bytes']);
  }

  /** Returns the bytes that were uploaded. */
  getBlob(sha256: string): Promise<Buffer> {
    const path = `/v1/blobs/${encodeURIComponent(sha256)}`;
    const call = { method: 'GET', path, waitMs: BLOB_MS } as const;
    return this.reach(call, async (response, { url }) => {
      const bytes = Buffer.from(await response.arrayBuffer());
      if (response.status !== 200) throw refusal(url, response.status, parsed(bytes.toString()));
      return bytes;
    });
  }

  /** Passes on the events of a stream until it ends; a stream that breaks off is an error. */
  async follow(path: string, onEvent: (name: string, data: unknown) => void): Promise<void> {
    await this.reach({ method: 'GET', path }, async (response, { url, heard }) => {
      if (!response.ok) throw refusal(url, response.status, parsed(await response.text()));
      if (!isEventStream(response)) throw strange(url, 'it does not send events');
      let hasEnded = false;
      const parser = new EventStreamParser(({ name, data }) => {
        hasEnded ||= name === 'end';
        onEvent(name, JSON.parse(data));
      });
      heard(STREAM_SILENT_MS_MAX);
      try {
        for await (const chunk of response.body ?? []) {
          heard(STREAM_SILENT_MS_MAX);
          parser.push(chunk);
        }
      } catch (cause) {
        if (this.signal.aborted) throw cause;
        throw brokenOff(url, reasonOf(cause as Error));
      }
      if (!hasEnded) throw brokenOff(url, 'the stream ended');
    });
  }

  /** Passes an answer to `take` as it arrives; an answer that breaks off is an error. */
  download<T>(path: string, take: (pieces: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
    return this.reach({ method: 'GET', path }, async (response, from) => {
      const { url } = from;
      if (!response.ok) throw refusal(url, response.status, parsed(await response.text()));
      if (!isBytes(response)) throw strange(url, 'it does not send bytes');
      return take(this.pieces(response, from));
    });
  }

  private async *pieces(response: Response, { url, heard }: From): AsyncGenerator<Uint8Array> {
    heard(STREAM_SILENT_MS_MAX);
    try {
      for await (const piece of response.body ?? []) {
        // Writing the piece may take a long time.
        heard(TAKING_MS_MAX);
        yield piece;
        heard(STREAM_SILENT_MS_MAX);
      }
    } catch (cause) {
      if (this.signal.aborted) throw cause;
      throw brokenOff(url, reasonOf(cause as Error));
    }
  }

  private async call<T>(call: Call, fields: readonly Field<T>[]): Promise<T> {
    const { url, status, text } = await this.answerTo(call);
    const answer = parsed(text);
    if (status < 200 || status > 299) throw refusal(url, status, answer);
    if (!hasFields(answer, fields)) throw strange(url, 'fields are missing');
    return answer as T;
  }

  private answerTo(call: Call): Promise<Answer> {
    return this.reach<Answer>(call, async (response, { url }) => {
      return { url, status: response.status, text: await response.text() };
    });
  }

  /**
   * An address that does not answer completely is skipped. Any complete answer counts, even a
   * refusal.
   */
  private async reach<T>(call: Call, read: Read<T>): Promise<T> {
    const why: string[] = [];
    let isUntrusted = false;
    let isPlain = false;
    const { urls } = this;
    for (const [place, url] of urls.entries()) {
      const isLast = call.isOnce === true || place === urls.length - 1;
      const silentMs = (call.waitMs ?? 0) + (isLast ? SILENT_MS_MAX : NEXT_AFTER_MS);
      try {
        const done = await this.attempt(call, { url, silentMs }, read);
        this.urls = [url, ...urls.filter((each) => each !== url)];
        return done;
      } catch (cause) {
        if (this.signal.aborted || !isNetworkError(cause as Error)) throw cause;
        const reason = reasonOf(cause as Error);
        if (call.isOnce === true && mayHaveArrived(cause as Error)) {
          const what = `${url} did not answer completely (${reason})`;
          const hint = mayNeedTls(url, reason) ? `; ${USE_TLS}` : '';
          throw new NoServerError(`${what}; the call may or may not have taken effect${hint}`);
        }
        isUntrusted ||= certificateProblem(codeOf(cause as Error)) !== undefined;
        isPlain ||= mayNeedTls(url, reason);
        why.push(`${url} (${reason})`);
      }
    }
    if (isUntrusted) throw new NoServerError(`no connection to ${why.join(' or ')}`);
    const isHere = urls.every(isOnThisMachine);
    const todo = isPlain
      ? USE_TLS
      : `${isHere ? "start one with 'sluice dev', or " : ''}set its address with --url or SLUICE_URL`;
    throw new NoServerError(`no server answers at ${why.join(' or ')}; ${todo}`);
  }

  private async attempt<T>(call: Call, { url, silentMs }: Address, read: Read<T>): Promise<T> {
    const silent = new AbortController();
    const onSilence = () => silent.abort(new DOMException('no answer', 'TimeoutError'));
    let timer = setTimeout(onSilence, silentMs);
    const heard = (moreMs: number): void => {
      clearTimeout(timer);
      timer = setTimeout(onSilence, moreMs);
    };
    try {
      const { method, path, body, content } = call;
      const response = await fetch(`${url}${path}`, {
        method,
        signal: AbortSignal.any([this.signal, silent.signal]),
        headers: this.key === undefined ? {} : { authorization: `Bearer ${this.key}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(content === undefined ? {} : { body: content as never }),
      });
      return await read(response, { url, heard });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** An address as people copy it, with the path of the API, is that of its server. */
function addressOf(text: string): string {
  return text.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** Only there does 'sluice dev' start a server. */
function isOnThisMachine(url: string): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/** `127.0.0.1:7420` alone is no address, and `htp://…` is a typo. */
function refuseOdd(url: string): void {
  if (/^https?:\/\/./.test(url) && URL.canParse(url)) return;
  throw new UsageError(`the address '${url}' must begin with http:// or https://`);
}

/**
 * Addresses are printed, so they must not contain a password. It would have no effect: the server
 * takes keys.
 */
function refusePassword(url: string): void {
  const at = url.lastIndexOf('@');
  if (at === -1) return;
  const { host } = URL.canParse(url) ? new URL(url) : { host: url.slice(at + 1) };
  throw new UsageError(
    `the address of ${host} has a user or password, which Sluice does not use: ` +
      'put a key into SLUICE_API_KEY',
  );
}

/** A key that no header can carry is refused without being shown: messages end up in logs. */
function keyOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new UsageError('SLUICE_API_KEY has characters that cannot be in a key');
}

interface Address {
  readonly url: string;
  readonly silentMs: number;
}

interface From {
  readonly url: string;
  readonly heard: (moreMs: number) => void;
}

type Read<T> = (response: Response, from: From) => Promise<T>;

/** `fetch` throws these for a failed connection and for an incomplete body. */
function isNetworkError({ name }: Error): boolean {
  return name === 'TypeError' || name === 'TimeoutError';
}

function isBytes(response: Response): boolean {
  return response.headers.get('content-type') === 'application/octet-stream';
}

function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

function brokenOff(url: string, why: string): NoServerError {
  return new NoServerError(`lost the connection to ${url} (${why})`);
}

/**
 * `items` must be a list; other fields only have to exist. Without fields there must be no body.
 */
function hasFields(answer: unknown, fields: readonly string[]): boolean {
  if (fields.length === 0) return answer === undefined;
  if (typeof answer !== 'object' || answer === null) return false;
  return fields.every((field) => {
    const value = (answer as Record<string, unknown>)[field];
    return field === 'items' ? Array.isArray(value) : value !== undefined;
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
