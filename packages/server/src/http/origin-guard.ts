import type { IncomingHttpHeaders } from 'node:http';
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

  /** Throws `forbidden_origin` when the request may come from a web page of somebody else. */
  check(headers: IncomingHttpHeaders): void {
    const host = headers[':authority'] ?? headers.host;
    if (typeof host !== 'string' || host === '') {
      throw new SluiceError('invalid_request', 'the request has no Host header');
    }
    if (!this.isOwn(host)) {
      throw forbidden(`host '${host}' is not a name of this server; see 'allowedHosts'`);
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

function forbidden(problem: string): SluiceError {
  return new SluiceError('forbidden_origin', problem);
}
