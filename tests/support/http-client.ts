/**
 * A small client for tests that pull the server's plug: HTTP/1.1 on many sockets that are kept, or
 * HTTP/2 on one connection.
 *
 * - An answer counts only when it arrived whole; everything else rejects with `NoAnswerError`.
 * - Nothing is ever sent again. Whether a request that got no answer had an effect is the caller's
 *   to find out.
 */
import { Agent, request as http1Request } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Readable } from 'node:stream';

export type Protocol = 'http1' | 'h2c';

interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The whole request was handed to the operating system. */
  readonly onSent?: () => void;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** An answer that continues until one side ends it. */
export interface HttpStream {
  /** Resolves when the stream ended for any reason and the last chunk was handed out. */
  readonly closed: Promise<void>;
}

export interface HttpClient {
  send(request: HttpRequest): Promise<HttpAnswer>;
  open(request: HttpRequest, onChunk: (chunk: Buffer) => void): HttpStream;
  /** Drops all connections. */
  close(): void;
}

/** The connection ended before the whole answer arrived. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

const SOCKETS_MAX = 256;

export function connectHttp(protocol: Protocol, url: string): HttpClient {
  return protocol === 'http1' ? new Http1Client(url) : new Http2Client(url);
}

/** The result of a request in both protocols: exactly one of the two is called, once. */
interface Exchange {
  readonly answered: (head: AnswerHead, body: Readable) => void;
  readonly failed: (cause: Error | undefined) => void;
}

interface AnswerHead {
  readonly status: number;
  /** NaN when the server did not send it; then no answer counts as complete. */
  readonly length: number;
}

abstract class ExchangingClient implements HttpClient {
  abstract close(): void;
  protected abstract exchange(request: HttpRequest, exchange: Exchange): void;

  send(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const failed = (cause: Error | undefined): void => reject(noAnswer(request, cause));
      const answered = ({ status, length }: AnswerHead, body: Readable): void => {
        const chunks: Buffer[] = [];
        body.on('data', (chunk: Buffer) => chunks.push(chunk));
        body.once('end', () => {
          const bytes = Buffer.concat(chunks);
          // An answer without content has no length either.
          if (bytes.length === length || status === 204)
            resolve({ status, text: bytes.toString() });
          else failed(undefined);
        });
        body.once('error', failed);
        body.once('close', () => failed(undefined));
      };
      this.exchange(request, { answered, failed });
    });
  }

  open(request: HttpRequest, onChunk: (chunk: Buffer) => void): HttpStream {
    const closed = new Promise<void>((resolve) => {
      const answered = (_head: AnswerHead, body: Readable): void => {
        body.on('data', onChunk);
        // A broken stream ends like any other.
        body.once('error', () => undefined);
        body.once('close', resolve);
      };
      this.exchange(request, { answered, failed: () => resolve() });
    });
    return { closed };
  }
}

class Http1Client extends ExchangingClient {
  private readonly url: string;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });

  constructor(url: string) {
    super();
    this.url = url;
  }

  override close(): void {
    this.agent.destroy();
  }

  protected override exchange(request: HttpRequest, { answered, failed }: Exchange): void {
    const body = bytesOf(request);
    const outgoing = http1Request(`${this.url}${request.path}`, {
      agent: this.agent,
      method: request.method,
      headers: { 'content-length': body.length },
    });
    if (request.onSent !== undefined) outgoing.once('finish', request.onSent);
    outgoing.on('error', failed);
    outgoing.once('response', (response) => {
      const length = Number(response.headers['content-length']);
      answered({ status: response.statusCode ?? 0, length }, response);
    });
    outgoing.end(body);
  }
}

class Http2Client extends ExchangingClient {
  private readonly session: ClientHttp2Session;

  constructor(url: string) {
    super();
    this.session = connect(url);
    // Each request handles a broken connection itself.
    this.session.on('error', () => undefined);
  }

  override close(): void {
    this.session.destroy();
  }

  protected override exchange(request: HttpRequest, { answered, failed }: Exchange): void {
    if (this.session.destroyed || this.session.closed) {
      failed(undefined);
      return;
    }
    const body = bytesOf(request);
    const headers = { ':method': request.method, ':path': request.path };
    const stream = this.session.request(headers, { endStream: body.length === 0 });
    if (request.onSent !== undefined) stream.once('finish', request.onSent);
    stream.on('error', failed);
    stream.once('close', () => failed(undefined));
    stream.once('response', (answer) => {
      const length = Number(answer['content-length']);
      answered({ status: Number(answer[':status']), length }, stream);
    });
    if (body.length > 0) stream.end(body);
  }
}

function bytesOf({ body }: HttpRequest): Buffer {
  return Buffer.from(body === undefined ? '' : JSON.stringify(body));
}

function noAnswer({ method, path }: HttpRequest, cause: Error | undefined): NoAnswerError {
  return new NoAnswerError(`${method} ${path} got no whole answer`, { cause });
}
