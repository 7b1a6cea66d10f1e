import { ROUTES, type SessionParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../gateway.ts';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';

export function workerSessionRoutes(app: FastifyInstance, gateway: Gateway): void {
  app.route({
    ...routeOptions(ROUTES.openWorkerSession),
    handler: async (request, reply) => {
      const body = await readJsonBody(request.raw);
      await gateway.attach(request.caller.namespace, body, () => {
        reply.hijack();
        return reply.raw;
      });
    },
  });

  app.route<{ Params: SessionParams }>({
    ...routeOptions(ROUTES.closeWorkerSession),
    handler: async (request, reply) => {
      await gateway.detach(request.caller.namespace, request.params.sessionId);
      return reply.code(204).send();
    },
  });
}
