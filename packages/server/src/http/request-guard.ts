import type { IncomingMessage } from 'node:http';
import { SluiceError } from '@sluice/protocol';
import type { Configuration } from '../config/settings.ts';
import { OriginGuard } from './origin-guard.ts';
import { limitBody } from './whole-body.ts';

/** What every request has to pass before anybody looks at what it wants. */
export class RequestGuard {
  private readonly origins: OriginGuard;
  private readonly limits: Configuration['http'];

  constructor(hosts: readonly string[], limits: Configuration['http']) {
    this.origins = new OriginGuard(hosts);
    this.limits = limits;
  }

  check(request: IncomingMessage): void {
    const { headersMax, bodyBytesMax } = this.limits;
    // Over HTTP/2 the library has counted them.
    if (request.httpVersionMajor < 2 && request.rawHeaders.length > headersMax * 2) {
      throw new SluiceError('headers_too_large', `a request has at most ${headersMax} headers`);
    }
    this.origins.check(request);
    limitBody(request, bodyBytesMax);
    // The framework refuses what it cannot parse as a media type; here every body is JSON.
    request.headers['content-type'] = undefined;
  }
}
