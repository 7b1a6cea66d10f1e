import {
  CancelRequest,
  CompleteRequest,
  FailRequest,
  NothingSaid,
  RetryRequest,
  ROUTES,
  SignalRequest,
  type TaskParams,
} from '@sluice/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { Checker } from '../base/validation.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { Operated, TaskOperations } from './task-operations.ts';

type OfTask = { Params: TaskParams };

/** Operations of clients and operators on one task. */
export function taskOperationRoutes(app: FastifyInstance, operations: TaskOperations): void {
  const cancel = new Checker(CancelRequest);
  const retry = new Checker(RetryRequest);
  const nothing = new Checker(NothingSaid);
  app.route<OfTask>({
    ...routeOptions(ROUTES.cancelTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      const done = await operations.cancel(namespace, params.id, await readBody(raw, cancel));
      reply.code(done.hasEnded ? 200 : 202);
      return answer(reply, done);
    },
  });
  app.route<OfTask>({
    ...routeOptions(ROUTES.retryTask),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      const wanted = await readBody(raw, retry);
      const by = authorOf(request, params.id);
      return answer(reply, await operations.retry(caller.namespace, params.id, wanted, by));
    },
  });
  app.route<OfTask>({
    ...routeOptions(ROUTES.pauseTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      await readBody(raw, nothing);
      return answer(reply, await operations.hold('pause_task', namespace, params.id));
    },
  });
  app.route<OfTask>({
    ...routeOptions(ROUTES.resumeTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      await readBody(raw, nothing);
      return answer(reply, await operations.hold('resume_task', namespace, params.id));
    },
  });
  app.route<OfTask>({
    ...routeOptions(ROUTES.explainTask),
    handler: async ({ params, caller }) => operations.explain(caller.namespace, params.id),
  });
  signalRoutes(app, operations);
}

/** Messages from outside: to the worker that holds a task, or a result in its place. */
function signalRoutes(app: FastifyInstance, operations: TaskOperations): void {
  const signal = new Checker(SignalRequest);
  app.route<OfTask>({
    ...routeOptions(ROUTES.signalTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      await operations.signal(namespace, params.id, await readBody(raw, signal));
      return reply.code(204).send();
    },
  });
  const complete = new Checker(CompleteRequest);
  app.route<OfTask>({
    ...routeOptions(ROUTES.completeTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      const request = await readBody(raw, complete);
      return answer(reply, await operations.complete(namespace, params.id, request));
    },
  });
  const fail = new Checker(FailRequest);
  app.route<OfTask>({
    ...routeOptions(ROUTES.failTask),
    handler: async ({ params, raw, caller: { namespace } }, reply) => {
      const request = await readBody(raw, fail);
      return answer(reply, await operations.fail(namespace, params.id, request));
    },
  });
}

function answer(reply: FastifyReply, { json }: Operated): FastifyReply {
  return reply.type('application/json').send(json);
}
