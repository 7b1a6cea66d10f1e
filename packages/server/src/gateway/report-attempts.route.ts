import { ROUTES, type SessionParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { Gateway } from './gateway.ts';

/** Takes a worker's reports of its attempts, and answers once they are durable. */
export function reportAttemptsRoute(app: FastifyInstance, gateway: Gateway): void {
  app.route<{ Params: SessionParams }>({
    ...routeOptions(ROUTES.reportAttempts),
    handler: async ({ params, raw, caller }, reply) => {
      const body = await readJsonBody(raw);
      const json = await gateway.report(caller.namespace, params.sessionId, body);
      return reply.type('application/json').send(json);
    },
  });
}
