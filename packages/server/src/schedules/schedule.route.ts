import { explainSchedule, nextTimes } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  BackfillRequest,
  CalendarQuery,
  ListQuery,
  NothingSaid,
  PreviewQuery,
  PutScheduleQuery,
  ROUTES,
  ScheduleListQuery,
  ScheduleParams,
  SchedulePatch,
  scheduleTime,
  timeProblems,
} from '@sluice/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { timeText } from '../base/time-text.ts';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery, tagsInQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody, readJsonBody } from '../http/whole-body.ts';
import type { Admission } from '../limits/admission.ts';
import type { RunArchive } from '../runs/run-archive.ts';
import type { TaskArchive } from '../tasks/task-archive.ts';
import { foundSchedule } from './find-schedule.ts';
import { changeSchedules } from './schedule-batch.ts';
import { countTimes } from './schedule-calendar.ts';
import { scheduleView } from './schedule-exec.ts';
import { listFires } from './schedule-fires.ts';
import { listSchedules } from './schedule-list.ts';
import { ScheduleOperations } from './schedule-operations.ts';
import { TIME_PORTS } from './time-ports.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly clock: () => number;
  readonly archive: TaskArchive;
  readonly runs: RunArchive;
}

const params = new Checker(ScheduleParams);
const nothing = new Checker(NothingSaid);

function idOf(request: FastifyRequest): string {
  return params.parse(request.params, 'the path is not valid').id;
}

/** Schedules: read, change, fire. */
export function scheduleRoutes(app: FastifyInstance, parts: Parts): void {
  const operations = new ScheduleOperations(parts);
  readRoutes(app, parts);
  historyRoutes(app, parts);
  changeRoutes(app, operations);
  batchRoute(app, parts, operations);
  fireRoutes(app, operations);
}

function readRoutes(app: FastifyInstance, { engine, admission }: Parts): void {
  const list = new Checker(ScheduleListQuery);
  app.route({
    ...routeOptions(ROUTES.listSchedules),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const { tags, plain } = tagsInQuery(query as Record<string, unknown>);
      const { limit, cursor, ...rest } = parseQuery(list, plain);
      const problems = [
        ...timeProblems(rest.nextBefore, '/nextBefore'),
        ...timeProblems(rest.nextAfter, '/nextAfter'),
      ];
      if (problems.length > 0) throw invalid('the query string is not valid', problems);
      admission.read();
      const filter = { ...rest, tags };
      const json = await listSchedules(engine, namespace, { filter, limit, cursor });
      return reply.type('application/json').send(json);
    },
  });
  const windows = new Checker(CalendarQuery);
  app.route({
    ...routeOptions(ROUTES.getScheduleCalendar),
    handler: async ({ query, caller: { namespace } }) => {
      const { window = '24h' } = parseQuery(windows, query);
      admission.read();
      return countTimes(engine, namespace, window);
    },
  });
  app.route({
    ...routeOptions(ROUTES.getSchedule),
    handler: async (request) => {
      const id = idOf(request);
      admission.read();
      return engine.read((state) =>
        scheduleView(state, foundSchedule(state, request.caller.namespace, id)),
      );
    },
  });
}

function historyRoutes(app: FastifyInstance, parts: Parts): void {
  const { engine, admission } = parts;
  const preview = new Checker(PreviewQuery);
  app.route({
    ...routeOptions(ROUTES.previewSchedule),
    handler: async (request) => {
      const id = idOf(request);
      const { count = 10, after } = parseQuery(preview, request.query);
      const problems = timeProblems(after, '/after');
      if (problems.length > 0) throw invalid('the query string is not valid', problems);
      admission.read();
      return engine.read((state) => {
        const slot = foundSchedule(state, request.caller.namespace, id);
        const times = nextTimes(state, slot, { ...TIME_PORTS, after: scheduleTime(after), count });
        return { items: times.map((at) => ({ at: timeText(at) })) };
      });
    },
  });
  app.route({
    ...routeOptions(ROUTES.explainSchedule),
    handler: async (request) => {
      const id = idOf(request);
      admission.read();
      return engine.read((state) =>
        explainSchedule(state, foundSchedule(state, request.caller.namespace, id), TIME_PORTS),
      );
    },
  });
  const list = new Checker(ListQuery);
  app.route({
    ...routeOptions(ROUTES.listFires),
    handler: (request) => {
      const id = idOf(request);
      const page = parseQuery(list, request.query);
      return listFires(parts, request.caller.namespace, { id, page });
    },
  });
}

function changeRoutes(app: FastifyInstance, operations: ScheduleOperations): void {
  const puts = new Checker(PutScheduleQuery);
  const patches = new Checker(SchedulePatch);
  app.route({
    ...routeOptions(ROUTES.putSchedule),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const id = idOf(request);
      const { dryRun = 'false' } = parseQuery(puts, request.query);
      const body = await readJsonBody(request.raw);
      if (dryRun === 'true') return operations.plan(namespace, id, body);
      const put = await operations.put(namespace, id, body, authorOf(request, id));
      return reply.code(put.change === 'created' ? 201 : 200).send(put);
    },
  });
  app.route({
    ...routeOptions(ROUTES.patchSchedule),
    handler: async (request) => {
      const id = idOf(request);
      const patch = await readBody(request.raw, patches);
      return operations.patch(request.caller.namespace, id, patch, authorOf(request, id));
    },
  });
  app.route({
    ...routeOptions(ROUTES.deleteSchedule),
    handler: async (request, reply) => {
      const id = idOf(request);
      await operations.remove(request.caller.namespace, id, authorOf(request, id));
      return reply.code(204).send();
    },
  });
  for (const [route, paused] of [
    [ROUTES.pauseSchedule, true],
    [ROUTES.resumeSchedule, false],
  ] as const) {
    app.route({
      ...routeOptions(route),
      handler: async (request) => {
        const id = idOf(request);
        await readBody(request.raw, nothing);
        const by = authorOf(request, id);
        return operations.pause(request.caller.namespace, id, { paused, by });
      },
    });
  }
}

function batchRoute(app: FastifyInstance, { engine }: Parts, operations: ScheduleOperations): void {
  app.route({
    ...routeOptions(ROUTES.changeSchedules),
    handler: async (request) => {
      const { namespace } = request.caller;
      const body = await readJsonBody(request.raw);
      const count = Array.isArray(body) ? body.length : 0;
      const by = authorOf(request, `${count} schedules`);
      return { items: await changeSchedules({ engine, operations }, { namespace, body, by }) };
    },
  });
}

function fireRoutes(app: FastifyInstance, operations: ScheduleOperations): void {
  const backfills = new Checker(BackfillRequest);
  app.route({
    ...routeOptions(ROUTES.triggerSchedule),
    handler: async (request, reply) => {
      const id = idOf(request);
      await readBody(request.raw, nothing);
      const fired = await operations.trigger(request.caller.namespace, id, authorOf(request, id));
      return reply.code(201).send(fired);
    },
  });
  app.route({
    ...routeOptions(ROUTES.backfillSchedule),
    handler: async (request, reply) => {
      const id = idOf(request);
      const order = await readBody(request.raw, backfills);
      const by = authorOf(request, id);
      const { namespace } = request.caller;
      const answer = await operations.backfill(namespace, id, { request: order, by });
      return reply.code(answer.dryRun || answer.count === 0 ? 200 : 202).send(answer);
    },
  });
  app.route({
    ...routeOptions(ROUTES.stopBackfill),
    handler: async (request, reply) => {
      const id = idOf(request);
      await operations.stopBackfill(request.caller.namespace, id, authorOf(request, id));
      return reply.code(204).send();
    },
  });
}
