import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { DeliveryFailure } from '@sluice/core';
import type { AddressGuard } from './address-guard.ts';
import { signatureHeaders } from './callback-signature.ts';
import { checkedAddresses, SendError } from './checked-addresses.ts';
import type { CallbackMessage, SendOutcome } from './courier.ts';
import type { ResolveName } from './name-resolver.ts';

/** Deadline of a receiver, from the name lookup to the end of its answer. */
const TIMEOUT_MS = 10_000;

/** Maximum bytes of an answer that are read. */
const ANSWER_BYTES_MAX = 64 * 1024;

interface SenderOptions {
  readonly guard: AddressGuard;
  readonly resolve: ResolveName;
  readonly version: string;
  /** For callbacks without a secret; empty for none. */
  readonly secret: string;
  readonly clock: () => number;
  readonly timeoutMs?: number;
}

/**
 * Sends callbacks over HTTP, each on a new connection.
 *
 * The connection goes to an address that was checked. A name is resolved once and all its addresses
 * are checked. The connection uses these addresses, whatever the name resolves to a moment later.
 * Host name and certificate are still those of the URL. Redirects are not followed.
 */
export class CallbackSender {
  private readonly options: SenderOptions;
  private readonly stopped = new AbortController();

  constructor(options: SenderOptions) {
    this.options = options;
  }

  /** Never rejects. */
  async send(message: CallbackMessage): Promise<SendOutcome> {
    const { timeoutMs = TIMEOUT_MS } = this.options;
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), this.stopped.signal]);
    try {
      const url = new URL(message.url);
      const { guard, resolve } = this.options;
      const addresses = await aborted(checkedAddresses(url, guard, resolve), signal);
      return await this.post(url, addresses, message, signal);
    } catch (cause) {
      return { status: 0, failure: signal.aborted ? 'timed_out' : failureOf(cause as Error) };
    }
  }

  /** Aborts the requests under way. */
  stop(): void {
    this.stopped.abort();
  }

  private post(
    url: URL,
    addresses: readonly string[],
    message: CallbackMessage,
    signal: AbortSignal,
  ): Promise<SendOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<SendOutcome>();
    const body = Buffer.from(message.body);
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      // No connection is kept, so none is reused for another receiver.
      agent: false,
      lookup: lookupIn(addresses),
      signal,
      headers: {
        ...this.headers(message),
        'content-type': 'application/json',
        'content-length': body.length,
        'user-agent': `Sluice/${this.options.version}`,
      },
    });
    let outcome: SendOutcome | undefined;
    request.on('error', (cause) => (outcome === undefined ? reject(cause) : resolve(outcome)));
    request.on('response', (response) => {
      const answered = this.outcomeOf(response);
      outcome = answered;
      drain(request, response, () => resolve(answered));
    });
    request.end(body);
    return promise;
  }

  private headers({ id, body, secret = this.options.secret }: CallbackMessage) {
    const timestamp = Math.floor(this.options.clock() / 1000);
    return signatureHeaders({ id, timestamp, body }, secret === '' ? undefined : secret);
  }

  private outcomeOf({ statusCode: status = 0, headers }: IncomingMessage): SendOutcome {
    if (status >= 200 && status < 300) return { status };
    const failure = failureOfStatus(status);
    const retryAfterMs = this.restOf(headers['retry-after']);
    return { status, failure, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  }

  /** The header holds seconds or a date. */
  private restOf(text: string | undefined): number | undefined {
    if (text === undefined) return undefined;
    if (/^\d{1,9}$/.test(text)) return 1000 * Number(text);
    const at = Date.parse(text);
    return Number.isNaN(at) ? undefined : Math.max(0, at - this.options.clock());
  }
}

/** Only the status counts. The rest of the answer is read, up to a limit, to end it cleanly. */
function drain(request: ClientRequest, response: IncomingMessage, done: () => void): void {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) request.destroy();
  });
  response.on('error', done);
  response.on('close', done);
}

/** Returns the checked addresses for every lookup. */
export function lookupIn(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0].address, found[0].family);
  };
}

function failureOfStatus(status: number): DeliveryFailure {
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirected' : 'answered_with_error';
}

const NOT_CONNECTED = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL'];

function failureOf(cause: NodeJS.ErrnoException): DeliveryFailure {
  if (cause instanceof SendError) return cause.failure;
  const { code = '' } = cause;
  if (code.startsWith('HPE_')) return 'answer_not_http';
  if (isTlsError(code)) return 'tls_failed';
  return NOT_CONNECTED.includes(code) || cause instanceof AggregateError
    ? 'not_connected'
    : 'connection_lost';
}

function isTlsError(code: string): boolean {
  return /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_)/.test(code);
}

/** Rejects when the signal is aborted first. */
export function aborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const give = (): void => reject(new Error('too late'));
  if (signal.aborted) give();
  signal.addEventListener('abort', give, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', give));
}
