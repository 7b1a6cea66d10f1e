import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type Client, clientOf } from '../http/client.ts';
import { HOP_HEADER, type Hop } from '../http/hop.ts';

/** Headers about one connection, which mean nothing on the next. */
const OF_CONNECTION = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers of a client that the forwarding server has used up. Host, origin and the browser's
 * description of the page travel inside the hop, where nobody else can write them.
 */
const USED_UP = new Set(['host', 'origin', 'expect', 'content-length', HOP_HEADER]);

/** The headers of a client's request that the owner gets. */
export function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return chosen(headers, (name) => {
    return !name.startsWith(':') && !name.startsWith('sec-fetch-') && !USED_UP.has(name);
  });
}

/** The headers of the owner's answer that the client gets. */
export function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return chosen(headers, () => true);
}

function chosen(
  headers: IncomingHttpHeaders,
  isWanted: (name: string) => boolean,
): OutgoingHttpHeaders {
  const named = headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [];
  const result: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || OF_CONNECTION.has(name) || named.includes(name)) continue;
    if (isWanted(name)) result[name] = value;
  }
  return result;
}

/** What the owner is told about the client. The run id and the time are those of the sender. */
export type ClientFacts = Omit<Hop, 'runId' | 'at'>;

export function factsAbout(request: IncomingMessage): ClientFacts {
  const { address = '', isEncrypted }: Client = clientOf(request);
  const { headers } = request;
  const site = headers['sec-fetch-site'];
  return {
    address,
    isEncrypted,
    host: String(headers[':authority'] ?? headers.host ?? ''),
    ...(headers.origin === undefined ? {} : { origin: headers.origin }),
    ...(site === undefined ? {} : { site: String(site) }),
  };
}
