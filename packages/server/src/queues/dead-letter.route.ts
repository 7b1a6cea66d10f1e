import {
  DeadLetterGroupQuery,
  DeadLetterQuery,
  DiscardRequest,
  ListQuery,
  type RedriveParams,
  RedriveRequest,
  ROUTES,
} from '@sluice/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker } from '../http/validation.ts';
import { readBody } from '../http/whole-body.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import type { DeadLetterOperations, DeadLetterOrder } from './dead-letters.ts';

export function deadLetterRoutes(
  app: FastifyInstance,
  operations: DeadLetterOperations,
  archive: TaskArchive,
): void {
  const groups = new Checker(DeadLetterGroupQuery);
  app.route({
    ...routeOptions(ROUTES.groupDeadLetters),
    handler: async ({ query, caller }) => {
      const { type } = parseQuery(groups, query);
      return archive.errorGroups(caller.namespace, type);
    },
  });
  const list = new Checker(DeadLetterQuery);
  app.route({
    ...routeOptions(ROUTES.listDeadLetters),
    handler: async ({ query, caller }, reply) => {
      const { type, ...page } = parseQuery(list, query);
      return reply
        .type('application/json')
        .send(await operations.list(caller.namespace, type, page));
    },
  });
  const redrive = new Checker(RedriveRequest);
  app.route({
    ...routeOptions(ROUTES.startRedrive),
    handler: async (request, reply) => {
      const { filter, ratePerSec } = await readBody(request.raw, redrive);
      const begun = await operations.redrive(orderOf(request, filter?.type), ratePerSec);
      return reply.code(202).send(begun);
    },
  });
  const redrives = new Checker(ListQuery);
  app.route({
    ...routeOptions(ROUTES.listRedrives),
    handler: async ({ query, caller }, reply) => {
      const page = parseQuery(redrives, query);
      const json = await operations.redrives(caller.namespace, page);
      return reply.type('application/json').send(json);
    },
  });
  app.route<{ Params: RedriveParams }>({
    ...routeOptions(ROUTES.endRedrive),
    handler: async (request, reply) => {
      const { id } = request.params;
      await operations.endRedrive(request.caller.namespace, id, authorOf(request, id));
      return reply.code(204).send();
    },
  });
  const discard = new Checker(DiscardRequest);
  app.route({
    ...routeOptions(ROUTES.discardDeadLetters),
    handler: async (request) => {
      const { filter } = await readBody(request.raw, discard);
      return { discarded: await operations.discard(orderOf(request, filter?.type)) };
    },
  });
}

function orderOf(request: FastifyRequest, taskType: string | undefined): DeadLetterOrder {
  const by = authorOf(request, taskType ?? 'all types');
  const scope = taskType === undefined ? {} : { taskType };
  return { namespace: request.caller.namespace, by, ...scope };
}
