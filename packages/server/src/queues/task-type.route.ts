import {
  namespaceOf,
  type PutTaskType,
  queueKey,
  type ReadonlyState,
  taskTypeOf,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  checkDefinition,
  type ErrorDetail,
  ListQuery,
  ROUTES,
  SluiceError,
  TaskDefinition,
  TypeParams,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { placedPage } from '../answers/pages.ts';
import { CORE_RULES } from '../base/core-rules.ts';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';

const type = 'put_task_type';

/** Definitions of task types: defaults for tasks whose submit does not set a field. */
export function taskTypeRoutes(app: FastifyInstance, engine: Engine, admission: Admission): void {
  readTypeRoutes(app, engine, admission);
  changeTypeRoutes(app, engine, admission);
}

const params = new Checker(TypeParams);
const list = new Checker(ListQuery);

function typeOf(value: unknown): string {
  return params.parse(value, 'the path is not valid').type;
}

function readTypeRoutes(app: FastifyInstance, engine: Engine, admission: Admission): void {
  app.route({
    ...routeOptions(ROUTES.listTaskTypes),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const page = parseQuery(list, query);
      admission.read();
      const json = await engine.read((state) => {
        const keys = [...state.taskTypes.keys()].filter((key) => namespaceOf(key) === namespace);
        const places = keys.map((place) => ({ place }));
        const show = ({ place }: { place: string }) => viewOf(state, place);
        return placedPage(places, page, { show, now: state.now });
      });
      return reply.type('application/json').send(json);
    },
  });

  app.route({
    ...routeOptions(ROUTES.getTaskType),
    handler: async ({ params, caller: { namespace } }) => {
      const taskType = typeOf(params);
      admission.read();
      return engine.read((state) => {
        const key = queueKey(namespace, taskType);
        if (state.taskTypes.get(key) === undefined) throw notFound(taskType);
        return viewOf(state, key);
      });
    },
  });
}

function changeTypeRoutes(app: FastifyInstance, engine: Engine, admission: Admission): void {
  const definitions = new Checker(TaskDefinition);
  app.route({
    ...routeOptions(ROUTES.putTaskType),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const taskType = typeOf(request.params);
      const definition = await readBody(request.raw, definitions);
      const problems: ErrorDetail[] = [];
      checkDefinition(definition, '', problems, CORE_RULES);
      if (problems.length > 0) throw invalid('the definition is not valid', problems);
      admission.command(type);
      const by = authorOf(request, taskType);
      const command = { type, namespace, taskType, definition, by } as const;
      const { existed, view } = await engine.execute<PutTaskType, Put>(command, (put, state) => {
        if (put.rejection === 'quota_exceeded') {
          throw quotaExceeded('taskTypesMax', state.limits.quotas?.taskTypesMax);
        }
        if (put.rejection !== undefined) throw overloaded('there are too many task types');
        return { existed: put.existed, view: viewOf(state, queueKey(namespace, taskType)) };
      });
      return reply.code(existed ? 200 : 201).send(view);
    },
  });

  app.route({
    ...routeOptions(ROUTES.deleteTaskType),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const taskType = typeOf(request.params);
      admission.command(type);
      const by = authorOf(request, taskType);
      const command = { type, namespace, taskType, definition: undefined, by } as const;
      await engine.execute<PutTaskType, void>(command, ({ existed }) => {
        if (!existed) throw notFound(taskType);
      });
      return reply.code(204).send();
    },
  });
}

interface Put {
  readonly existed: boolean;
  readonly view: object;
}

/** The secret of a callback is never shown. */
function viewOf({ taskTypes }: ReadonlyState, key: string): object {
  const { callback, ...rest } = taskTypes.get(key) ?? {};
  const shown = callback === undefined ? {} : { callback: { url: callback.url, on: callback.on } };
  return { type: taskTypeOf(key), definition: { ...rest, ...shown } };
}

function notFound(taskType: string): SluiceError {
  return new SluiceError('task_type_not_found', `no definition of task type '${taskType}'`);
}
