import type { IncomingMessage } from 'node:http';
import { SluiceError } from '@sluice/protocol';
import { isLoopback } from '../config/relations.ts';
import { isApiPath } from './api-path.ts';

/**
 * Prevents web pages from controlling a local server. A page's requests carry its origin. A page
 * that makes its own name resolve to this machine sends that name as the host.
 */
export class OriginGuard {
  private readonly hostNames: ReadonlySet<string>;
  /** Host headers that were accepted; a client sends the same one every time. */
  private readonly accepted = new Set<string>();

  constructor(configuredHosts: readonly string[]) {
    this.hostNames = new Set(configuredHosts.map((name) => name.toLowerCase()));
  }

  /**
   * Throws `forbidden_origin` when the request may come from a foreign web page. Every host that
   * the request names must be this server, because a proxy may use any of them.
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
      if (PROBE.test(url) || this.isOwn(name)) continue;
      const bare = nameOf(name);
      throw forbidden(
        `host '${bare}' is not a name of this server; if it should be, start the server with ` +
          `--allowed-hosts ${bare}`,
      );
    }
    if (headers['sec-fetch-site'] === 'cross-site' && !isLinkToPage(headers, url)) {
      throw forbidden('requests from other sites are refused');
    }
    const { origin } = headers;
    if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
      throw forbidden(`origin '${origin}' is not this server`);
    }
  }

  private isOwn(host: string): boolean {
    if (this.accepted.has(host)) return true;
    const name = nameOf(host);
    if (!isLoopback(name) && !this.hostNames.has(name)) return false;
    if (this.accepted.size < 100) this.accepted.add(host);
    return true;
  }
}

/**
 * Probes of load balancers and container platforms send the address of the container. They read
 * only whether the server is up.
 */
const PROBE = /^\/health\/(?:live|ready)$/;

/** Somebody follows a link of another site to a page of the console, which holds no data. */
function isLinkToPage(headers: IncomingMessage['headers'], url: string): boolean {
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isLink && !isApiPath(url);
}

/** Without the port. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').toLowerCase();
}

/** The parts of a request that are checked. */
export type CheckedRequest = Pick<IncomingMessage, 'headers' | 'rawHeaders'> & {
  readonly url?: string | undefined;
};

/** Counted here because Node keeps the first header and drops the others. */
function hostHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/** The host of an absolute-form target, as clients send it to a proxy. */
function targetHost(url: string): string | undefined {
  if (url.startsWith('/') || url === '*') return undefined;
  return URL.canParse(url) ? new URL(url).host : url;
}

function forbidden(problem: string): SluiceError {
  return new SluiceError('forbidden_origin', problem);
}
