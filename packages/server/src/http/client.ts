import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { HOP_HEADER, type Hop, readHop } from './hop.ts';

/** The connection of the client, also when another server forwarded its request. */
export interface Client {
  /** Undefined when the client has disconnected. */
  readonly address: string | undefined;
  readonly isEncrypted: boolean;
}

/** What a server of a cluster needs in order to believe a hop. */
export interface HopTrust {
  readonly secret: Uint8Array;
  /** The cluster's time: hops older than a minute are not believed. */
  readonly clock: () => number;
}

type Request = Pick<IncomingMessage, 'headers'> & { readonly socket?: unknown };

/** Requests that came through another server. */
const forwarded = new WeakMap<object, Client>();

/**
 * Gives a request the client's own headers and connection, if another server of the cluster
 * forwarded it. Returns whether one did: it has checked host and origin (hop.trust).
 */
export function adoptHop(request: Request, trust: HopTrust | undefined): boolean {
  const { headers } = request;
  if (headers[HOP_HEADER] === undefined) return false;
  const hop = trust && readHop(headers, trust.secret, trust.clock());
  delete headers[HOP_HEADER];
  if (typeof hop !== 'object') return false;
  adopt(request, hop);
  return true;
}

function adopt(request: Request, { address, isEncrypted, host, origin, site }: Hop): void {
  const { headers } = request;
  delete headers[':authority'];
  headers.host = host;
  headers.origin = origin;
  headers['sec-fetch-site'] = site;
  forwarded.set(request, { address, isEncrypted });
}

export function clientOf(request: Request): Client {
  return forwarded.get(request) ?? directClient(request);
}

function directClient({ socket }: Request): Client {
  const { remoteAddress, encrypted } = (socket ?? {}) as Partial<TLSSocket>;
  return { address: remoteAddress, isEncrypted: encrypted === true };
}
