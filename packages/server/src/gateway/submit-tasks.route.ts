import type { IncomingMessage } from 'node:http';
import { REQUEST_KEY_HEADER, ROUTES, SubmitQuery } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker, invalid } from '../base/validation.ts';
import { type RequestKey, requestKeyOf } from '../dedupe/request-key.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { jsonOf, readWhole, refuseEncoding } from '../http/whole-body.ts';
import type { TaskWaiting } from '../tasks/task-waiting.ts';
import type { DirectCalls } from './direct-calls.ts';
import type { Gateway, Submitted } from './gateway.ts';

const TYPE = 'application/json';

/** Takes one task or an array, all or nothing, and answers once they are durable. */
export function submitTasksRoute(
  app: FastifyInstance,
  { gateway, direct }: { readonly gateway: Gateway; readonly direct: DirectCalls },
  waiting: TaskWaiting,
): void {
  const query = new Checker(SubmitQuery);

  direct.add(ROUTES.submitTasks, async (request, { namespace }) => {
    const { body, key } = await readSubmit(request);
    const { isNew, json, ...known } = await gateway.submit(namespace, body, { key });
    const text = json.toString('latin1');
    return { status: statusOf(isNew), type: TYPE, text, headers: confirmed(known) };
  });

  app.route({
    ...routeOptions(ROUTES.submitTasks),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const { waitMs } = parseQuery(query, request.query);
      const { body, key } = await readSubmit(request.raw);
      if (waitMs !== undefined && Array.isArray(body)) {
        throw invalid('the query string is not valid', [
          { path: '/waitMs', problem: 'is allowed only with a single task, not with an array' },
        ]);
      }
      const admit = (): void => {
        if (waitMs !== undefined) waiting.admit(request.caller);
      };
      const { isNew, json, firstId, ...known } = await gateway.submit(namespace, body, {
        admit,
        key,
      });
      reply.code(statusOf(isNew)).type(TYPE).headers(confirmed(known));
      if (waitMs === undefined) return json;
      return waiting.wait(request.caller, firstId, waitMs, reply);
    },
  });
}

interface SubmitRequest {
  readonly body: unknown;
  readonly key: RequestKey | undefined;
}

async function readSubmit(request: IncomingMessage): Promise<SubmitRequest> {
  refuseEncoding(request);
  const bytes = await readWhole(request);
  return { body: jsonOf(bytes), key: requestKeyOf(request.headers, bytes) };
}

const NO_HEADERS = {};

/** Tells the client that this server remembers its request by the key. */
function confirmed({ key }: Pick<Submitted, 'key'>): Readonly<Record<string, string>> {
  return key === undefined ? NO_HEADERS : { [REQUEST_KEY_HEADER]: key };
}

function statusOf(isNew: boolean): number {
  return isNew ? 201 : 200;
}
