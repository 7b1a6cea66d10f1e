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
    handler: async ({ query }, reply) => {
      const { type, ...page } = parseQuery(list, query);
      return reply.type('application/json').send(await operations.list(type, page));
    },
  });
  const redrive = new Checker(RedriveRequest);
  app.route({
    ...routeOptions(ROUTES.startRedrive),
    handler: async ({ raw }, reply) => {
      const { filter, ratePerSec } = await readBody(raw, redrive);
      return reply.code(202).send(await operations.redrive(filter?.type, ratePerSec));
    },
  });
  app.route({
    ...routeOptions(ROUTES.listRedrives),
    handler: async () => ({ items: await operations.redrives() }),
  });
  app.route<{ Params: RedriveParams }>({
    ...routeOptions(ROUTES.endRedrive),
    handler: async ({ params }, reply) => {
      await operations.endRedrive(params.id);
      return reply.code(204).send();
    },
  });
  const discard = new Checker(DiscardRequest);
  app.route({
    ...routeOptions(ROUTES.discardDeadLetters),
    handler: async ({ raw }) => {
      const { filter } = await readBody(raw, discard);
      return { discarded: await operations.discard(filter?.type) };
    },
  });
}
