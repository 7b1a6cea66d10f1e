import type { IncomingMessage } from 'node:http';
import { SluiceError } from '@sluice/protocol';
import type { Configuration } from '../config/settings.ts';
import { adoptHop, type HopTrust } from './client.ts';
import { OriginGuard } from './origin-guard.ts';
import { limitBody } from './whole-body.ts';

/** Checks every request before its route is called. */
export class RequestGuard {
  private readonly origins: OriginGuard;
  private readonly limits: Configuration['http'];
  private readonly trust: HopTrust | undefined;

  /** Without `trust`, no request counts as forwarded by another server. */
  constructor(hosts: readonly string[], limits: Configuration['http'], trust?: HopTrust) {
    this.origins = new OriginGuard(hosts);
    this.limits = limits;
    this.trust = trust;
  }

  check(request: IncomingMessage): void {
    const { headersMax, bodyBytesMax } = this.limits;
    // Over HTTP/2 the library has already counted them.
    if (request.httpVersionMajor < 2 && request.rawHeaders.length > headersMax * 2) {
      throw new SluiceError('headers_too_large', `a request has at most ${headersMax} headers`);
    }
    if (!adoptHop(request, this.trust)) this.origins.check(request);
    limitBody(request, bodyBytesMax);
    // The framework refuses a content type that it cannot parse; here every body is JSON.
    request.headers['content-type'] = undefined;
  }
}
