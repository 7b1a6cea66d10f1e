import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Route } from '@sluice/protocol';
import type { AccessGuard } from '../access/access-guard.ts';
import type { Caller } from '../access/caller.ts';
import { asSluiceError, errorHeaders } from '../http/error-answer.ts';
import { errorJson } from '../http/raw-answer.ts';
import type { RefusalDesk } from '../http/refusal.ts';
import type { RequestGuard } from '../http/request-guard.ts';
import { routeOptions } from '../http/route-options.ts';
import type { Histogram } from '../metrics/histogram.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';

interface CallAnswer {
  readonly status: number;
  readonly type: string;
  /** JSON in plain ASCII. */
  readonly text: string;
  /** Beside the type and the length. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a call does with its body. `place` is the parameter of its path, or empty. */
export type RunCall = (
  request: IncomingMessage,
  caller: Caller,
  place: string,
) => Promise<CallAnswer>;

interface DirectCall {
  readonly route: Route;
  readonly url: string;
  readonly run: RunCall;
  readonly histogram: Histogram;
}

interface DirectParts {
  readonly guard: RequestGuard;
  readonly access: AccessGuard;
  readonly desk: RefusalDesk;
  readonly metrics: ServerMetrics;
}

/**
 * Answers the calls of every task without the web framework, which costs more than what they do.
 *
 * direct.same-answer: A client cannot tell which of the two answered. Guard, access, body,
 *   refusals, log lines and metrics are the functions that the framework's hooks call. The same
 *   route is registered there, too, and takes what is unusual: query strings, escaped paths, a
 *   server that is closing.
 */
export class DirectCalls {
  private readonly parts: DirectParts;
  /** By path. */
  private readonly plain = new Map<string, DirectCall>();
  private readonly patterns: (DirectCall & { readonly pattern: RegExp })[] = [];
  /** The framework tells clients of a closing server to end their connections. */
  isClosing = false;

  constructor(parts: DirectParts) {
    this.parts = parts;
  }

  /** Takes requests of the method POST to this route. */
  add(route: Route, run: RunCall): void {
    const { url } = routeOptions(route);
    const histogram = this.parts.metrics.route(route.method, url);
    const call = { route, url, run, histogram };
    const pattern = new RegExp(`^${route.path.replace(/\{\w+\}/, '([\\w-]+)')}$`);
    if (route.path.includes('{')) this.patterns.push({ ...call, pattern });
    else this.plain.set(route.path, call);
  }

  /** Passes on what no direct call answers. */
  before(framework: RequestListener): RequestListener {
    return (request, response) => {
      const { method, url = '' } = request;
      if (method !== 'POST' || this.isClosing) return framework(request, response);
      const call = this.plain.get(url);
      if (call !== undefined) return void this.answer(call, '', request, response);
      for (const each of this.patterns) {
        const found = each.pattern.exec(url);
        if (found !== null) return void this.answer(each, found[1], request, response);
      }
      return framework(request, response);
    };
  }

  private async answer(
    call: DirectCall,
    place: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const startedAt = performance.now();
    try {
      this.parts.guard.check(request);
      const caller = await this.callerOf(call, request);
      const { status, type, text, headers } = await call.run(request, caller, place);
      // A text goes out with the head in one piece.
      response.writeHead(status, {
        'content-type': type,
        'content-length': text.length,
        ...headers,
      });
      response.end(text, 'latin1');
    } catch (failure) {
      this.refuse(call, response, failure as Error);
    }
    call.histogram.observe(performance.now() - startedAt);
  }

  private callerOf({ route }: DirectCall, request: IncomingMessage): Caller | Promise<Caller> {
    const { access } = this.parts;
    try {
      return access.admit(request, route);
    } catch (refusal) {
      return access.settled().then(() => Promise.reject(refusal));
    }
  }

  private refuse({ route, url }: DirectCall, response: ServerResponse, failure: Error): void {
    const { desk } = this.parts;
    const error = asSluiceError(failure);
    const { code, status, cause } = error;
    const requestId = desk.newRequestId();
    desk.refused({ code, status, requestId, method: route.method, route: url, cause });
    const body = errorJson(error, requestId);
    response.writeHead(status, {
      ...errorHeaders(error),
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  }
}
