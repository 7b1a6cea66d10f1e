import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { announcedLength, limitBody, readWhole } from '../http/whole-body.ts';
import type { Outgoing } from './exchange.ts';
import { type ClientFacts, factsAbout, requestHeaders } from './forwarded-headers.ts';
import { tooMany } from './forwarding-errors.ts';
import type { Traits } from './route-traits.ts';

export interface HoldLimits {
  readonly bodyBytesMax: number;
  /** Requests held at once. */
  readonly requestsMax?: number;
  /** Bytes of held bodies. */
  readonly bytesMax?: number;
}

/** A request that waits for the owner's answer, with its whole body. */
export interface Held {
  readonly outgoing: Outgoing;
  readonly facts: ClientFacts;
  readonly bytes: number;
}

const REQUESTS_MAX = 10_000;
const BYTES_MAX = 64 * 1024 * 1024;

/** Reads and counts the requests that wait for the owner (L9). */
export class HeldRequests {
  private readonly limits: Required<HoldLimits>;
  private requests = 0;
  private bytes = 0;

  constructor({ requestsMax = REQUESTS_MAX, bytesMax = BYTES_MAX, bodyBytesMax }: HoldLimits) {
    this.limits = { requestsMax, bytesMax, bodyBytesMax };
  }

  /** Requests that wait for the owner. */
  get count(): number {
    return this.requests;
  }

  /** Reads the body, except of an upload. The caller must release the request. */
  async hold(request: IncomingMessage, traits: Traits): Promise<Held> {
    const { requestsMax, bytesMax, bodyBytesMax } = this.limits;
    const announced = traits.isUpload ? 0 : Math.max(0, announcedLength(request));
    if (this.requests >= requestsMax || this.bytes + announced > bytesMax) throw tooMany();
    this.requests += 1;
    try {
      // A client that leaves takes its address along.
      const facts = factsAbout(request);
      limitBody(request, bodyBytesMax);
      const body = traits.isUpload ? request : await bodyOf(request);
      const bytes = Buffer.isBuffer(body) ? body.length : 0;
      if (this.bytes + bytes > bytesMax) throw tooMany();
      this.bytes += bytes;
      return { facts, bytes, outgoing: outgoingOf(request, body, traits) };
    } catch (cause) {
      this.requests -= 1;
      throw cause;
    }
  }

  release({ bytes }: Held): void {
    this.requests -= 1;
    this.bytes -= bytes;
  }
}

function outgoingOf(request: IncomingMessage, body: Outgoing['body'], traits: Traits): Outgoing {
  const { method = 'GET', url = '/' } = request;
  const headers = requestHeaders(request.headers);
  const length = Buffer.isBuffer(body) ? body.length : announcedLength(request);
  if (body !== undefined && length >= 0) headers['content-length'] = length;
  return { method, path: url, headers, body, traits };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  return hasBody(request) ? readWhole(request) : undefined;
}

function hasBody(request: IncomingMessage): boolean {
  const { headers, httpVersionMajor } = request;
  if (httpVersionMajor >= 2) {
    return !(request as unknown as Http2ServerRequest).stream.endAfterHeaders;
  }
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
