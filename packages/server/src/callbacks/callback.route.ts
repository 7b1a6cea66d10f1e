import { CallbackQuery, RedeliverRequest, ROUTES, type TaskParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import type { CallbackOperations } from './callback-operations.ts';

export function callbackRoutes(
  app: FastifyInstance,
  operations: CallbackOperations,
  archive: TaskArchive,
): void {
  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.getTaskCallbacks),
    handler: async ({ params, caller }, reply) => {
      const json = await archive.past(caller.namespace, params.id, 'callbacks');
      return reply.type('application/json').send(json);
    },
  });
  const list = new Checker(CallbackQuery);
  app.route({
    ...routeOptions(ROUTES.listCallbacks),
    handler: async ({ query, caller }, reply) => {
      const json = await operations.list(caller.namespace, parseQuery(list, query));
      return reply.type('application/json').send(json);
    },
  });
  const redeliver = new Checker(RedeliverRequest);
  app.route({
    ...routeOptions(ROUTES.redeliverCallbacks),
    handler: async (request) => {
      const { ids } = await readBody(request.raw, redeliver);
      const by = authorOf(request, ids === undefined ? 'all that were given up' : ids[0]);
      return operations.redeliver(request.caller.namespace, ids, by);
    },
  });
}
