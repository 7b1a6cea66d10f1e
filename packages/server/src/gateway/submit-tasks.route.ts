import { ROUTES, SubmitQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { TaskWaiting } from '../tasks/task-waiting.ts';
import type { Gateway } from './gateway.ts';

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
      const { isNew, json, firstId } = await gateway.submit(namespace, body, () => {
        if (waitMs !== undefined) waiting.admit(request.caller);
      });
      reply.code(isNew ? 201 : 200).type('application/json');
      if (waitMs === undefined) return json;
      return waiting.wait(request.caller, firstId, waitMs, reply);
    },
  });
}
