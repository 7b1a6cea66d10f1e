import { ROUTES, SubmitQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { TaskWaiting } from '../tasks/task-waiting.ts';
import type { DirectCalls } from './direct-calls.ts';
import type { Gateway } from './gateway.ts';

const TYPE = 'application/json';

/** Takes one task or an array, all or nothing, and answers once they are durable. */
export function submitTasksRoute(
  app: FastifyInstance,
  { gateway, direct }: { readonly gateway: Gateway; readonly direct: DirectCalls },
  waiting: TaskWaiting,
): void {
  const query = new Checker(SubmitQuery);

  direct.add(ROUTES.submitTasks, async (request, { namespace }) => {
    const body = await readJsonBody(request);
    const { isNew, json } = await gateway.submit(namespace, body);
    return { status: statusOf(isNew), type: TYPE, text: json.toString('latin1') };
  });

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
      reply.code(statusOf(isNew)).type(TYPE);
      if (waitMs === undefined) return json;
      return waiting.wait(request.caller, firstId, waitMs, reply);
    },
  });
}

function statusOf(isNew: boolean): number {
  return isNew ? 201 : 200;
}
