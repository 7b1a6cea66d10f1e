import type { IncomingMessage } from 'node:http';
import { SluiceError } from '@sluice/protocol';
import { isLoopback } from '../config/relations.ts';

/**
 * Keeps web pages from driving a local server: a page's requests carry its origin, and a page that
 * points a name of its own at this machine shows that name as the host.
 */
export class OriginGuard {
  private readonly hostNames: ReadonlySet<string>;
  /** Host headers that were accepted; a client sends the same one every time. */
  private readonly accepted = new Set<string>();

  constructor(configuredHosts: readonly string[]) {
    this.hostNames = new Set(configuredHosts.map((name) => name.toLowerCase()));
  }

  /**
   * Throws `forbidden_origin` when the request may come from a web page of somebody else. Every
   * host that the request names has to be this server: a proxy may go by another one.
   */
  check({ headers, rawHeaders, url = '/' }: CheckedRequest): void {
    const host = headers[':authority'] ?? headers.host;
    if (typeof host !== 'string' || host === '') {
      throw new SluiceError('invalid_request', 'the request has no Host header');
    }
    if (hostHeaders(rawHeaders) > 1) {
      throw new SluiceError('invalid_request', 'the request has more than one Host header');
    }
    for (const name of [host, headers.host ?? host, targetHost(url) ?? host]) {
      if (this.isOwn(name)) continue;
      throw forbidden(`host '${name}' is not a name of this server; see 'allowedHosts'`);
    }
    if (headers['sec-fetch-site'] === 'cross-site') {
      throw forbidden('requests from other sites are refused');
    }
    const { origin } = headers;
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      throw forbidden(`origin '${origin}' is not this server`);
    }
  }

  private isOwn(host: string): boolean {
    if (this.accepted.has(host)) return true;
    const name = host.replace(/:\d+$/, '').toLowerCase();
    if (!isLoopback(name) && !this.hostNames.has(name)) return false;
    if (this.accepted.size < 100) this.accepted.add(host);
    return true;
  }
}

/** What is looked at of a request. */
export type CheckedRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders'> & {
  readonly url?: string | undefined;
};

/** Node keeps the first and drops the others. */
function hostHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The host of a target that is a whole address, as clients send it to a proxy. */
function targetHost(url: string): string | undefined {
  if (url.startsWith('/') || url === '*') return undefined;
  return URL.canParse(url) ? new URL(url).host : url;
}

function forbidden(problem: string): SluiceError {
  return new SluiceError('forbidden_origin', problem);
}
