import {
  DeadLetterQuery,
  DiscardRequest,
  type RedriveParams,
  RedriveRequest,
  ROUTES,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker } from '../http/validation.ts';
import { readBody } from '../http/whole-body.ts';
import type { DeadLetterOperations } from './dead-letters.ts';

export function deadLetterRoutes(app: FastifyInstance, operations: DeadLetterOperations): void {
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
    handler: async ({ raw, caller }, reply) => {
      const { filter, ratePerSec } = await readBody(raw, redrive);
      const begun = await operations.redrive(caller.namespace, filter?.type, ratePerSec);
      return reply.code(202).send(begun);
    },
  });
  app.route({
    ...routeOptions(ROUTES.listRedrives),
    handler: async ({ caller }) => ({ items: await operations.redrives(caller.namespace) }),
  });
  app.route<{ Params: RedriveParams }>({
    ...routeOptions(ROUTES.endRedrive),
    handler: async ({ params, caller }, reply) => {
      await operations.endRedrive(caller.namespace, params.id);
      return reply.code(204).send();
    },
  });
  const discard = new Checker(DiscardRequest);
  app.route({
    ...routeOptions(ROUTES.discardDeadLetters),
    handler: async ({ raw, caller }) => {
      const { filter } = await readBody(raw, discard);
      return { discarded: await operations.discard(caller.namespace, filter?.type) };
    },
  });
}
