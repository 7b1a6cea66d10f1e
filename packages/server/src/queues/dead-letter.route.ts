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
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import type { DeadLetterOperations, DeadLetterOrder, DeadLetterScope } from './dead-letters.ts';

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
      const { type, fingerprint, ...page } = parseQuery(list, query);
      const scope = scopeOf(caller.namespace, { type, fingerprint });
      return reply.type('application/json').send(await operations.list(scope, page));
    },
  });
  const redrive = new Checker(RedriveRequest);
  app.route({
    ...routeOptions(ROUTES.startRedrive),
    handler: async (request, reply) => {
      const { filter, ratePerSec, dryRun } = await readBody(request.raw, redrive);
      const begun = await operations.redrive(orderOf(request, filter, dryRun), ratePerSec);
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
      const { filter, dryRun } = await readBody(request.raw, discard);
      return operations.discard(orderOf(request, filter, dryRun));
    },
  });
}

interface Filter {
  readonly type?: string | undefined;
  readonly fingerprint?: string | undefined;
}

function scopeOf(namespace: string, { type, fingerprint }: Filter): DeadLetterScope {
  return {
    namespace,
    ...(type === undefined ? {} : { taskType: type }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
}

function orderOf(request: FastifyRequest, filter: Filter = {}, dryRun = false): DeadLetterOrder {
  const { type = 'all types', fingerprint } = filter;
  const detail = fingerprint === undefined ? '' : `errors like ${fingerprint}`;
  const by = authorOf(request, type, detail);
  return { ...scopeOf(request.caller.namespace, filter), by, dryRun };
}
