import type { SetQueuePaused } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { ListQuery, QueuePatch, ROUTES, TypeParams } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { placedPage } from '../answers/pages.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import type { QueueRates } from './queue-rates.ts';
import { QueueViews } from './queue-views.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly rates: QueueRates;
  readonly clock: () => number;
}

export function queueRoutes(app: FastifyInstance, parts: Parts): void {
  const { engine, admission, rates, clock } = parts;
  const list = new Checker(ListQuery);
  const params = new Checker(TypeParams);
  const patch = new Checker(QueuePatch);

  app.route({
    ...routeOptions(ROUTES.listQueues),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const page = parseQuery(list, query);
      admission.read();
      const json = await engine.read((state, partition) => {
        const now = clock();
        const views = new QueueViews(state, partition, { namespace, rates, now });
        const queues = views.types().map((place) => ({ place }));
        return placedPage(queues, page, { show: ({ place }) => views.one(place), now });
      });
      return reply.type('application/json').send(json);
    },
  });

  app.route({
    ...routeOptions(ROUTES.patchQueue),
    handler: async (request) => {
      const { namespace } = request.caller;
      const { type: taskType } = params.parse(request.params, 'the path is not valid');
      const { paused } = await readBody(request.raw, patch);
      const type = 'set_queue_paused';
      admission.command(type);
      const by = authorOf(request, taskType);
      const command = { type, namespace, taskType, paused, by } as const;
      return engine.execute<SetQueuePaused, object>(command, (reply, state, partition) => {
        if (reply.rejection === 'quota_exceeded') {
          throw quotaExceeded('taskTypesMax', state.limits.quotas?.taskTypesMax);
        }
        if (reply.rejection !== undefined) throw overloaded('there are too many task types');
        return new QueueViews(state, partition, { namespace, rates, now: clock() }).one(taskType);
      });
    },
  });
}
