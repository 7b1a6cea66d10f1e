import type { SessionId } from '@sluice/core';
import { ROUTES, type SessionParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { DirectCalls, RunCall } from './direct-calls.ts';
import type { Gateway } from './gateway.ts';

/** Takes a worker's reports of its attempts, and answers once they are durable. */
export function reportAttemptsRoute(
  app: FastifyInstance,
  gateway: Gateway,
  direct: DirectCalls,
): void {
  const report: RunCall = async (request, { namespace }, sessionId) => {
    const body = await readJsonBody(request);
    const text = await gateway.report(namespace, sessionId as SessionId, body);
    return { status: 200, type: 'application/json; charset=utf-8', text };
  };
  direct.add(ROUTES.reportAttempts, report);

  app.route<{ Params: SessionParams }>({
    ...routeOptions(ROUTES.reportAttempts),
    handler: async ({ params, raw, caller }, reply) => {
      const { type, text } = await report(raw, caller, params.sessionId);
      return reply.type(type).send(text);
    },
  });
}
