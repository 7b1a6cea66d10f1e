import type { Engine } from '@sluice/engine';
import {
  CancelTasksRequest,
  GetTasksRequest,
  LIMITS,
  RetryTasksRequest,
  ROUTES,
  TaskListQuery,
  timeProblems,
  WaitTasksRequest,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery, tagsInQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { Admission } from '../limits/admission.ts';
import { BulkCancel, BulkRetry } from './bulk-operations.ts';
import type { TaskArchive } from './task-archive.ts';
import type { TaskFilter } from './task-filter.ts';
import type { TaskOperations } from './task-operations.ts';
import type { TaskWaiting } from './task-waiting.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly waiting: TaskWaiting;
  readonly archive: TaskArchive;
  readonly operations: TaskOperations;
}

/** Routes for many tasks at once. */
export function manyTasksRoutes(app: FastifyInstance, parts: Parts): void {
  const { waiting, archive } = parts;
  const get = new Checker(GetTasksRequest);
  app.route({
    ...routeOptions(ROUTES.getTasks),
    handler: async ({ raw, caller: { namespace } }, reply) => {
      const { ids } = await readBody(raw, get);
      return reply.type('application/json').send(await archive.many(namespace, ids));
    },
  });
  const wait = new Checker(WaitTasksRequest);
  app.route({
    ...routeOptions(ROUTES.waitForTasks),
    handler: async ({ raw, caller }, reply) => {
      const { ids, timeoutMs = LIMITS.waitMsDefault } = await readBody(raw, wait);
      waiting.admit(caller, ids.length);
      const json = await waiting.waitForAny(caller, ids, timeoutMs, reply);
      return reply.type('application/json').send(json);
    },
  });
  const list = new Checker(TaskListQuery);
  app.route({
    ...routeOptions(ROUTES.listTasks),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const { filter, ...page } = parseListQuery(list, query as Record<string, unknown>);
      return reply.type('application/json').send(await archive.list(namespace, filter, page));
    },
  });
  const cancel = new Checker(CancelTasksRequest);
  const bulk = new BulkCancel(parts);
  app.route({
    ...routeOptions(ROUTES.cancelTasks),
    handler: async ({ raw, caller: { namespace } }) => {
      const request = await readBody(raw, cancel);
      checkTimes(request.filter ?? {}, '/filter', 'the body is not valid');
      return bulk.run(namespace, request);
    },
  });
  const retry = new Checker(RetryTasksRequest);
  const retries = new BulkRetry(parts);
  app.route({
    ...routeOptions(ROUTES.retryTasks),
    handler: async (call) => {
      const request = await readBody(call.raw, retry);
      checkTimes(request.filter ?? {}, '/filter', 'the body is not valid');
      return retries.run(call.caller.namespace, request, authorOf(call, 'many tasks'));
    },
  });
}

function parseListQuery(checker: Checker<typeof TaskListQuery>, query: Record<string, unknown>) {
  const { tags, plain } = tagsInQuery(query);
  const { limit, cursor, parent, q, ...rest } = parseQuery(checker, plain);
  checkTimes(rest, '', 'the query string is not valid');
  const filter: TaskFilter = {
    ...rest,
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(q === undefined ? {} : { text: q }),
  };
  return {
    filter,
    ...(limit === undefined ? {} : { limit }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

function checkTimes({ since, until }: TaskFilter, path: string, what: string): void {
  const problems = [
    ...timeProblems(since, `${path}/since`),
    ...timeProblems(until, `${path}/until`),
  ];
  if (problems.length > 0) throw invalid(what, problems);
}
