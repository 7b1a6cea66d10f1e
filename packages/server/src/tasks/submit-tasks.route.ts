import { ROUTES, SubmitQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { Gateway } from '../gateway.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { Checker, invalid } from '../http/validation.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { TaskWaiting } from './task-waiting.ts';

/** Takes one task or an array, all or nothing, and answers once they are durable. */
export function submitTasksRoute(
  app: FastifyInstance,
  gateway: Gateway,
  waiting: TaskWaiting,
): void {
  const query = new Checker(SubmitQuery);

  app.route({
    ...routeOptions(ROUTES.submitTasks),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const { waitMs } = parseQuery(query, request.query);
      const body = await readJsonBody(request.raw);
      if (waitMs !== undefined && Array.isArray(body)) {
        throw invalid('the query string is not valid', [
          { path: '/waitMs', problem: 'is allowed only with a single task, not with an array' },
        ]);
      }
      const { isNew, json } = await gateway.submit(namespace, body, () => {
        if (waitMs !== undefined) waiting.admit();
      });
      reply.code(isNew ? 201 : 200).type('application/json');
      if (waitMs === undefined) return json;
      const { id } = JSON.parse(json.toString()) as { id: string };
      return waiting.wait(request.caller, id, waitMs, reply);
    },
  });
}
