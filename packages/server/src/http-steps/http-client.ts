import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AddressGuard } from '../callbacks/address-guard.ts';
import { aborted, lookupIn } from '../callbacks/callback-sender.ts';
import { checkedAddresses, SendError } from '../callbacks/checked-addresses.ts';
import type { ResolveName } from '../callbacks/name-resolver.ts';
import { RequestFailure } from './request-failure.ts';
import type { StepRequest } from './step-request.ts';

/** Maximum bytes of a body that a step may get. */
const BODY_BYTES_MAX = 256 * 1024;

/** Characters of an answer that the message of a failure has. */
const SAID_MAX = 200;

/** The output of an HTTP step, in the form of Conductor. */
export interface StepResponse {
  readonly response: {
    readonly statusCode: number;
    readonly reasonPhrase: string;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    readonly body: unknown;
  };
}

interface ClientOptions {
  readonly guard: AddressGuard;
  readonly resolve: ResolveName;
  readonly version: string;
}

/**
 * Sends the requests of HTTP steps, each on a new connection.
 *
 * As for callbacks, the connection goes to an address that was checked, and redirects are not
 * followed. Messages name the address without its query, because that may hold secrets; headers and
 * bodies that were sent are never named.
 */
export class HttpClient {
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** Rejects with a `RequestFailure` unless the answer is a success. */
  async send(request: StepRequest, signal: AbortSignal): Promise<StepResponse> {
    const { url, method } = request;
    const name = `${method} ${url.origin}${url.pathname}`;
    try {
      const { guard, resolve } = this.options;
      const inTime = AbortSignal.any([AbortSignal.timeout(request.connectMs), signal]);
      const addresses = await aborted(checkedAddresses(url, guard, resolve), inTime);
      const { response, body } = await this.exchange(request, addresses, signal);
      return answerOf(name, response, body);
    } catch (cause) {
      throw failureOf(name, cause as Error, signal);
    }
  }

  private exchange(
    { url, method, headers, body, connectMs, readMs }: StepRequest,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<{ response: IncomingMessage; body: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<{
      response: IncomingMessage;
      body: Buffer;
    }>();
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method,
      // No connection is kept, so none is reused for another receiver.
      agent: false,
      lookup: lookupIn(addresses),
      signal,
      headers: {
        'user-agent': `Sluice/${this.options.version}`,
        ...headers,
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
    });
    const late = (what: string): void => {
      request.destroy(new RequestFailure('timed_out', `did not ${what} in time`));
    };
    let timer = setTimeout(() => late('connect'), connectMs);
    const restart = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => late('answer'), readMs);
    };
    request.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', restart);
    });
    request.on('error', reject);
    request.on('close', () => {
      clearTimeout(timer);
      // An answer such as 101 ends the request without an error; after an end this has no effect.
      reject(new RequestFailure('connection_failed', 'the receiver sent no whole answer'));
    });
    request.on('response', (response) => {
      restart();
      void bodyOf(response).then(
        (read) => resolve({ response, body: read }),
        (cause) => {
          request.destroy();
          reject(cause);
        },
      );
    });
    request.end(body);
    return promise;
  }
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) {
      const message = `answered with more than ${BODY_BYTES_MAX} bytes`;
      throw new RequestFailure('answer_too_large', message, { retryable: false });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A receiver may ask for a delay of at most this. */
const WAIT_MS_MAX = 3_600_000;

/** Statuses of the client's fault that another try may mend. */
const RETRIED = [408, 425, 429];

function answerOf(name: string, response: IncomingMessage, body: Buffer): StepResponse {
  const { statusCode = 0, statusMessage: reasonPhrase = '', headers } = response;
  const text = body.toString();
  if (statusCode >= 200 && statusCode < 300) {
    const distinct = response.headersDistinct as Record<string, string[]>;
    return {
      response: { statusCode, reasonPhrase, headers: distinct, body: parsed(text, headers) },
    };
  }
  const said = text.trim() === '' ? '' : `: ${text.trim().slice(0, SAID_MAX)}`;
  const message = `${name} answered ${statusCode} ${reasonPhrase}${said}`;
  const retryable = statusCode >= 500 || RETRIED.includes(statusCode);
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0];
  const waitMs = Math.min(1000 * Number(seconds), WAIT_MS_MAX);
  const wait = seconds === undefined ? {} : { retryAfterMs: waitMs };
  throw new RequestFailure(`http_${statusCode}`, message, { retryable, ...wait });
}

/** JSON is parsed; anything else is a text. */
function parsed(text: string, headers: IncomingMessage['headers']): unknown {
  if (text === '') return null;
  if (!/[/+]json\b/i.test(headers['content-type'] ?? '')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // A receiver that says JSON and sends something else: the step sees what it sent.
    return text;
  }
}

const NOT_ALLOWED =
  'leads to an address that requests may not use; see the setting callbacks.allow';

function failureOf(name: string, cause: Error, signal: AbortSignal): RequestFailure {
  if (cause instanceof RequestFailure) {
    if (cause.message.startsWith(name)) return cause;
    const { code, retryable } = cause;
    return new RequestFailure(code, `${name} ${cause.message}`, { retryable });
  }
  if (signal.aborted) return new RequestFailure('cancelled', `${name} was stopped`);
  if (cause instanceof SendError) {
    const isRefused = cause.failure === 'address_not_allowed';
    const why = isRefused ? NOT_ALLOWED : 'has a name that leads to no address';
    return new RequestFailure(cause.failure, `${name} ${why}`, { retryable: !isRefused });
  }
  const { code = '' } = cause as NodeJS.ErrnoException;
  const what = code === '' ? 'did not connect in time' : `failed: ${code}`;
  return new RequestFailure(code === '' ? 'timed_out' : 'connection_failed', `${name} ${what}`);
}
