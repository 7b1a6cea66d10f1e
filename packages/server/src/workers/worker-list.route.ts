import { ListQuery, NothingSaid, ROUTES, type WorkerParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { WorkerList } from './worker-list.ts';

export function workerListRoutes(app: FastifyInstance, workers: WorkerList): void {
  const list = new Checker(ListQuery);
  const nothing = new Checker(NothingSaid);
  app.route({
    ...routeOptions(ROUTES.listWorkers),
    handler: async ({ query, caller: { namespace } }, reply) => {
      return reply
        .type('application/json')
        .send(await workers.list(namespace, parseQuery(list, query)));
    },
  });
  app.route<{ Params: WorkerParams }>({
    ...routeOptions(ROUTES.drainWorker),
    handler: async (request) => {
      const { id } = request.params;
      await readBody(request.raw, nothing);
      return workers.drain(request.caller.namespace, id, authorOf(request, id));
    },
  });
}
