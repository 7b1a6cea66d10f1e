import { ROUTES, type TaskParams, TaskPatch } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker } from '../base/validation.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody, readJsonBody } from '../http/whole-body.ts';
import type { TaskPatcher } from './patch-tasks.ts';

export function patchTasksRoutes(app: FastifyInstance, patcher: TaskPatcher): void {
  const patch = new Checker(TaskPatch);
  app.route<{ Params: TaskParams }>({
    ...routeOptions(ROUTES.patchTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      const json = await patcher.one(namespace, params.id, await readBody(raw, patch));
      return reply.type('application/json').send(json);
    },
  });
  app.route({
    ...routeOptions(ROUTES.patchTasks),
    handler: async ({ raw, caller: { namespace } }, reply) => {
      const json = await patcher.many(namespace, await readJsonBody(raw));
      return reply.type('application/json').send(json);
    },
  });
}
