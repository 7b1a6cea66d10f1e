import { ROUTES, type SessionParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { KeyStreams } from '../access/key-streams.ts';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { Gateway } from './gateway.ts';

interface Parts {
  readonly gateway: Gateway;
  readonly keyStreams: KeyStreams;
}

export function workerSessionRoutes(app: FastifyInstance, { gateway, keyStreams }: Parts): void {
  app.route({
    ...routeOptions(ROUTES.openWorkerSession),
    handler: async (request, reply) => {
      const body = await readJsonBody(request.raw);
      await gateway.attach(request.caller.namespace, body, () => {
        reply.hijack();
        keyStreams.add(request.caller, reply.raw);
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
