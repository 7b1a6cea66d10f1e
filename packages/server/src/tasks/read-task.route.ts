import { LIMITS, ROUTES, type TaskParams, WaitQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import type { TaskArchive } from './task-archive.ts';
import type { TaskWaiting } from './task-waiting.ts';

export function readTaskRoutes(
  app: FastifyInstance,
  archive: TaskArchive,
  waiting: TaskWaiting,
): void {
  const query = new Checker(WaitQuery);

  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.getTask),
    handler: async (request, reply) => {
      const viewJson = await archive.one(request.caller.namespace, request.params.id);
      return reply.type('application/json').send(viewJson);
    },
  });

  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.getTaskHistory),
    handler: async (request, reply) => {
      const json = await archive.past(request.caller.namespace, request.params.id, 'history');
      return reply.type('application/json').send(json);
    },
  });

  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.waitForTask),
    handler: async (request, reply) => {
      const { params, caller } = request;
      const { timeoutMs = LIMITS.waitMsDefault } = parseQuery(query, request.query);
      waiting.admit(caller);
      const viewJson = await waiting.wait(caller, params.id, timeoutMs, reply);
      return reply.type('application/json').send(viewJson);
    },
  });
}
