import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { OWNER_HEADER } from '@sluice/protocol/owner';
import { certificateProblem, connectProblem, isUnsent } from '../base/connect-problems.ts';
import type { Answered, Cancel, HttpRequest, SendProblem, StreamListener } from '../base/ports.ts';
import { answerHeaders, headersOf } from '../calls/http-headers.ts';
import type { Transport, TransportOptions } from '../calls/platform.ts';
import { type Address, addressOf } from './address.ts';
import { OwnerRoute } from './owner-route.ts';

/** Callbacks of one request. */
interface Exchange {
  answered(response: IncomingMessage): void;
  /** No answer, or an incomplete one. Called at most once. */
  failed(problem: SendProblem): void;
}

/**
 * Requests over `node:http` with keep-alive: each costs much less than with `fetch`.
 *
 * An answer counts only when it arrived completely (L10).
 */
export class NodeTransport implements Transport {
  private readonly addresses: readonly Address[];
  /** Private, because it contains the key: printing a client must not show it. */
  readonly #headers: Readonly<Record<string, string>>;
  /** Undefined where requests go to the given addresses only. */
  private readonly route: OwnerRoute | undefined;
  private readonly http = new HttpAgent({ keepAlive: true });
  private readonly https = new HttpsAgent({ keepAlive: true });

  constructor({ addresses, headers, followsOwner = true }: TransportOptions) {
    this.addresses = addresses.map(addressOf);
    this.#headers = headers;
    this.route = followsOwner ? new OwnerRoute() : undefined;
  }

  send(request: HttpRequest, answered: Answered): Cancel {
    return this.exchange(request, {
      answered: (response) => readWhole(response, answered),
      failed: (problem) => answered(undefined, problem),
    });
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    return this.exchange(request, {
      answered: (response) => {
        if (response.statusCode !== 200) {
          readWhole(response, (refusal) => listener.ended(refusal));
          return;
        }
        listener.opened?.();
        response.on('data', (chunk: Uint8Array) => listener.bytes(chunk));
        response.on('error', () => undefined);
        response.once('close', () => listener.ended());
      },
      failed: (problem) => listener.ended(undefined, problem),
    });
  }

  close(): void {
    this.http.destroy();
    this.https.destroy();
  }

  private exchange(asked: HttpRequest, exchange: Exchange): Cancel {
    const { address, method, path } = asked;
    const configured = this.addresses[address];
    const used = this.route?.from(configured) ?? configured;
    const { isSecure, host, port, prefix } = used;
    const headers = { ...this.#headers, ...headersOf(asked) };
    const target = { host, port, method, path: `${prefix}${path}`, headers };
    const request: ClientRequest = isSecure
      ? httpsRequest({ ...target, agent: this.https })
      : httpRequest({ ...target, agent: this.http });
    let isWanted = true;
    let isAnswered = false;
    let isOver = false;
    request.once('response', (response) => {
      isAnswered = true;
      const owner = response.headers[OWNER_HEADER];
      if (typeof owner === 'string') this.route?.heard(owner, used);
      response.once('close', () => {
        isOver = true;
        if (!response.complete) this.route?.failed(used);
      });
      if (isWanted) exchange.answered(response);
      else response.resume();
    });
    // After the answer has begun, an error also shows in the end of the answer.
    request.on('error', (cause: NodeJS.ErrnoException) => {
      if (!isAnswered) this.route?.failed(used);
      if (isWanted && !isAnswered) exchange.failed(problemOf(cause));
    });
    request.end(asked.body);
    return () => {
      isWanted = false;
      // Nobody waits for an answer, or for bytes of a stream, that come in time.
      if (!isOver) this.route?.failed(used);
      request.removeAllListeners('response');
      request.destroy();
    };
  }
}

function problemOf({ code = '', message }: NodeJS.ErrnoException): SendProblem {
  return {
    why: connectProblem(code) || message,
    isUnsent: isUnsent(code),
    isUntrusted: certificateProblem(code) !== undefined,
  };
}

function readWhole(response: IncomingMessage, answered: Answered): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', () => undefined);
  response.once('close', () => {
    if (!response.complete) {
      answered(undefined);
      return;
    }
    const { headers } = response;
    answered({
      status: response.statusCode ?? 0,
      text: Buffer.concat(chunks).toString(),
      ...answerHeaders((name) => headers[name] as string | undefined),
    });
  });
}
