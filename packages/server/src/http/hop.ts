import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/**
 * What a server of a cluster says about a request that it forwards, in the header `sluice-hop`.
 *
 * hop.one: A request with a hop is never forwarded again, so requests cannot circle. This holds for
 *   every hop with a right signature, however old.
 * hop.trust: What a hop says is believed only with a right signature of the cluster's secret and a
 *   time of the last minute. Any other hop is ignored.
 *
 * The sender has checked host and origin by itself, and sends its own connection's facts. The owner
 * needs them for the limit of failures, the audit records and the console's cookie.
 */
export interface Hop {
  /** The process that forwards. */
  readonly runId: string;
  /** When it was sent, in milliseconds. */
  readonly at: number;
  /** The client's address. */
  readonly address: string;
  /** The client's connection is encrypted. */
  readonly isEncrypted: boolean;
  /** The host that the client addressed. */
  readonly host: string;
  /** The headers `origin` and `sec-fetch-site` of the client. */
  readonly origin?: string;
  readonly site?: string;
}

export const HOP_HEADER = 'sluice-hop';

/** Clocks of the servers, and the way between them, may take this long. */
const AGE_MS_MAX = 60_000;

export function writeHop(hop: Hop, secret: Uint8Array): string {
  const { runId, at, address, isEncrypted, host, origin, site } = hop;
  const fields = [runId, at, address, isEncrypted, host, origin ?? null, site ?? null];
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');
  return `${text}.${signatureOf(text, secret).toString('base64url')}`;
}

/**
 * The hop of a request. `stale`: a server of the cluster sent it, but not in the last minute.
 * `forged`: it is not from a server of the cluster.
 */
export function readHop(
  headers: IncomingHttpHeaders,
  secret: Uint8Array,
  now: number,
): Hop | 'stale' | 'forged' | undefined {
  const header = headers[HOP_HEADER];
  if (header === undefined) return undefined;
  const [text, signature, ...more] = String(header).split('.');
  if (signature === undefined || more.length > 0) return 'forged';
  const given = Buffer.from(signature, 'base64url');
  const right = signatureOf(text, secret);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged';
  const hop = hopIn(text);
  return Math.abs(now - hop.at) <= AGE_MS_MAX ? hop : 'stale';
}

/** The text has a right signature, so a server of the cluster wrote it. */
function hopIn(text: string): Hop {
  type Fields = [string, number, string, boolean, string, string | null, string | null];
  const fields = JSON.parse(Buffer.from(text, 'base64url').toString()) as Fields;
  const [runId, at, address, isEncrypted, host, origin, site] = fields;
  return {
    runId,
    at,
    address,
    isEncrypted,
    host,
    ...(origin === null ? {} : { origin }),
    ...(site === null ? {} : { site }),
  };
}

/** The name keeps the signature apart from others that are made with the same secret. */
function signatureOf(text: string, secret: Uint8Array): Buffer {
  return createHmac('sha256', keyOf(secret)).update(`${HOP_HEADER} ${text}`).digest();
}

/** Importing a secret for each signature takes seven times as long as the signature. */
const keys = new WeakMap<Uint8Array, KeyObject>();

function keyOf(secret: Uint8Array): KeyObject {
  let key = keys.get(secret);
  if (key === undefined) {
    key = createSecretKey(secret);
    keys.set(secret, key);
  }
  return key;
}
