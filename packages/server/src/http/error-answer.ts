import { EngineStoppedError } from '@sluice/engine';
import { ROUTES, type Route, SluiceError } from '@sluice/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nearestPath } from './nearest-route.ts';
import { errorJson } from './raw-answer.ts';
import type { RefusalDesk } from './refusal.ts';

export type AnswerError = (
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError | Error,
) => FastifyReply;

/** Gives every error the API's format, including unknown routes and methods. */
export function installErrorAnswers(app: FastifyInstance, answer: AnswerError): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) =>
    answer(request, reply, error),
  );
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0];
    const allowed = methodsOf(path);
    if (allowed.length === 0) {
      const near = nearestPath(path);
      const hint = near === undefined ? '' : `; did you mean ${near}?`;
      const message = `no route ${request.method} ${path}${hint}`;
      return answer(request, reply, new SluiceError('route_not_found', message));
    }
    reply.header('allow', allowed.join(', '));
    const problem = `${path} allows ${allowed.join(' or ')}, not ${request.method}`;
    return answer(request, reply, new SluiceError('method_not_allowed', problem));
  });
}

const PATHS = Object.values<Route>(ROUTES).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

function methodsOf(path: string): string[] {
  return PATHS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}

export function errorAnswers({ refused }: RefusalDesk): AnswerError {
  return (request, reply, failure) => {
    const error = asSluiceError(failure);
    const { url: route } = request.routeOptions;
    refused({
      code: error.code,
      status: error.status,
      requestId: request.id,
      method: request.method,
      ...(route === undefined ? {} : { route }),
      cause: error.cause,
    });
    const body = errorJson(error, request.id);
    return reply
      .code(error.status)
      .headers(errorHeaders(error))
      .type('application/json')
      .send(body);
  };
}

/** The headers that an error adds to its answer. */
export function errorHeaders({ code, retryAfterMs }: SluiceError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) headers['retry-after'] = `${Math.ceil(retryAfterMs / 1000)}`;
  if (code === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return headers;
}

/** By name: the code of the database is loaded only where there is one. */
const DATABASE_AWAY: ReadonlySet<string> = new Set(['BlobsAwayError', 'ConnectionLostError']);

/** Hides internal errors: the client gets a request id, and the log gets the cause. */
export function asSluiceError(error: FastifyError | Error): SluiceError {
  if (error instanceof SluiceError) return error;
  if (error instanceof EngineStoppedError) return unavailable(error);
  if (DATABASE_AWAY.has(error.name)) return noDatabase(error);
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status !== undefined && status >= 400 && status < 500) {
    return new SluiceError('invalid_request', error.message, { cause: error });
  }
  return new SluiceError('internal_error', 'something went wrong on the server', { cause: error });
}

export function unavailable(cause?: Error): SluiceError {
  return new SluiceError('unavailable', 'the server is stopping; try again', {
    retryAfterMs: 1000,
    cause,
  });
}

function noDatabase(cause: Error): SluiceError {
  const message = 'the database does not answer; try again';
  return new SluiceError('unavailable', message, { retryAfterMs: 1000, cause });
}
