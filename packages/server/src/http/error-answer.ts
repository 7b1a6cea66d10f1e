import { EngineStoppedError } from '@sluice/engine';
import { type ErrorBody, ROUTES, type Route, SluiceError } from '@sluice/protocol';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Gives every error the contract's shape, unknown routes and methods too. */
export function installErrorAnswers(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) =>
    answerError(request, reply, asSluiceError(error, request)),
  );
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0];
    const allowed = methodsOf(path);
    if (allowed.length === 0) {
      const error = new SluiceError('route_not_found', `no route ${request.method} ${path}`);
      return answerError(request, reply, error);
    }
    reply.header('allow', allowed.join(', '));
    const problem = `${path} takes ${allowed.join(' or ')}, not ${request.method}`;
    return answerError(request, reply, new SluiceError('method_not_allowed', problem));
  });
}

const PATHS = Object.values<Route>(ROUTES).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

function methodsOf(path: string): string[] {
  return PATHS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}

export function answerError(
  request: FastifyRequest,
  reply: FastifyReply,
  error: SluiceError,
): FastifyReply {
  const body: ErrorBody = {
    error: {
      code: error.code,
      message: error.message,
      details: error.details,
      requestId: request.id,
    },
  };
  if (error.retryAfterMs !== undefined) {
    reply.header('retry-after', Math.ceil(error.retryAfterMs / 1000));
  }
  return reply.code(error.status).type('application/json').send(JSON.stringify(body));
}

/** What is not meant for the client stays here: it gets a request id, the log gets the cause. */
function asSluiceError(error: FastifyError | Error, request: FastifyRequest): SluiceError {
  if (error instanceof SluiceError) return error;
  if (error instanceof EngineStoppedError) return unavailable(error);
  const status = 'statusCode' in error ? error.statusCode : undefined;
  if (status !== undefined && status >= 400 && status < 500) {
    return new SluiceError('invalid_request', error.message, { cause: error });
  }
  request.log.error({ err: error, requestId: request.id }, 'request failed');
  return new SluiceError('internal_error', 'something went wrong on the server', { cause: error });
}

export function unavailable(cause?: Error): SluiceError {
  return new SluiceError('unavailable', 'the server is stopping; try again', {
    retryAfterMs: 1000,
    cause,
  });
}
