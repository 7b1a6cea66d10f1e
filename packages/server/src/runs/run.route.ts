import {
  CompleteStepRequest,
  FailStepRequest,
  LIMITS,
  ListQuery,
  NothingSaid,
  RerunRequest,
  ROUTES,
  RunListQuery,
  type RunParams,
  type RunStepParams,
  StartQuery,
  timeProblems,
  WaitQuery,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { keyNumber } from '../base/key-number.ts';
import { Checker, invalid } from '../base/validation.ts';
import { parseQuery, tagsInQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody, readJsonBody } from '../http/whole-body.ts';
import type { Scripts } from '../scripts/scripts.ts';
import { refuseProblems, scriptProblems } from '../workflows/definition-check.ts';
import type { RunArchive } from './run-archive.ts';
import type { RunOperations } from './run-operations.ts';
import type { RunWaiting } from './run-waiting.ts';

interface Parts {
  readonly runs: RunArchive;
  readonly waiting: RunWaiting;
  readonly operations: RunOperations;
  readonly scripts: Pick<Scripts, 'check'>;
}

type OfRun = { Params: RunParams };
type OfStep = { Params: RunStepParams };

/** Runs of workflows: start, read, wait, search and operate. */
export function runRoutes(app: FastifyInstance, parts: Parts): void {
  startRoute(app, parts);
  readRoutes(app, parts);
  listRoute(app, parts);
  operateRoutes(app, parts);
  revivalRoutes(app, parts);
  stepRoutes(app, parts);
}

function startRoute(app: FastifyInstance, { operations, waiting, scripts }: Parts): void {
  const start = new Checker(StartQuery);
  app.route({
    ...routeOptions(ROUTES.startRuns),
    handler: async (request, reply) => {
      const { caller } = request;
      const { waitMs } = parseQuery(start, request.query);
      const body = await readJsonBody(request.raw);
      if (waitMs !== undefined && Array.isArray(body)) {
        throw invalid('the query string is not valid', [
          { path: '/waitMs', problem: 'is allowed only with a single run, not with an array' },
        ]);
      }
      await checkScripts(body, scripts);
      const started = await operations.start(caller.namespace, body, () => {
        if (waitMs !== undefined) waiting.admit(caller);
      });
      if (Array.isArray(body)) return reply.code(201).send({ items: started });
      const [run] = started;
      reply.code(run.deduplicated ? 200 : 201).type('application/json');
      if (waitMs === undefined) return run;
      return reply.send(await waiting.wait(caller, run.id, waitMs, reply));
    },
  });
}

/** Definitions that come with runs; everything else about them is checked with the runs. */
async function checkScripts(body: unknown, scripts: Parts['scripts']): Promise<void> {
  const items: unknown[] = Array.isArray(body) ? body.slice(0, LIMITS.batchRunsMax) : [body];
  for (const [index, item] of items.entries()) {
    const { definition } = (item ?? {}) as { readonly definition?: unknown };
    const path = `${Array.isArray(body) ? `/${index}` : ''}/definition`;
    if (definition !== undefined) refuseProblems(await scriptProblems(definition, path, scripts));
  }
}

function readRoutes(app: FastifyInstance, { runs, waiting }: Parts): void {
  app.route<OfRun>({
    ...routeOptions(ROUTES.getRun),
    handler: async ({ params, caller }, reply) => {
      const json = await runs.one(caller.namespace, params.id);
      return reply.type('application/json').send(json);
    },
  });
  app.route<OfRun>({
    ...routeOptions(ROUTES.getRunHistory),
    handler: async ({ params, caller }, reply) => {
      const json = await runs.history(caller.namespace, params.id);
      return reply.type('application/json').send(json);
    },
  });
  app.route<OfRun>({
    ...routeOptions(ROUTES.explainRun),
    handler: ({ params, caller }) => runs.explain(caller.namespace, params.id),
  });
  app.route<OfRun>({
    ...routeOptions(ROUTES.getRunDefinition),
    handler: async ({ params, caller }, reply) => {
      const json = await runs.definition(caller.namespace, params.id);
      return reply.type('application/json').send(json);
    },
  });
  const list = new Checker(ListQuery);
  app.route<OfRun>({
    ...routeOptions(ROUTES.listRunSteps),
    handler: async ({ params, query, caller }, reply) => {
      const page = parseQuery(list, query);
      const json = await runs.steps(caller.namespace, params.id, page);
      return reply.type('application/json').send(json);
    },
  });
  const wait = new Checker(WaitQuery);
  app.route<OfRun>({
    ...routeOptions(ROUTES.waitForRun),
    handler: async ({ params, query, caller }, reply) => {
      const { timeoutMs = LIMITS.waitMsDefault } = parseQuery(wait, query);
      waiting.admit(caller);
      const json = await waiting.wait(caller, params.id, timeoutMs, reply);
      return reply.type('application/json').send(json);
    },
  });
}

function listRoute(app: FastifyInstance, { runs }: Parts): void {
  const list = new Checker(RunListQuery);
  app.route({
    ...routeOptions(ROUTES.listRuns),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const { tags, plain } = tagsInQuery(query as Record<string, unknown>);
      const { limit, cursor, ...rest } = parseQuery(list, plain);
      const problems = [
        ...timeProblems(rest.since, '/since'),
        ...timeProblems(rest.until, '/until'),
      ];
      if (problems.length > 0) throw invalid('the query string is not valid', problems);
      const filter = { ...rest, ...(Object.keys(tags).length === 0 ? {} : { tags }) };
      const page = {
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
      };
      return reply.type('application/json').send(await runs.list(namespace, filter, page));
    },
  });
}

function operateRoutes(app: FastifyInstance, { operations }: Parts): void {
  const nothing = new Checker(NothingSaid);
  app.route<OfRun>({
    ...routeOptions(ROUTES.cancelRun),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      await readBody(raw, nothing);
      const by = authorOf(request, params.id);
      const { hasEnded, json } = await operations.cancel(caller.namespace, params.id, by);
      reply.code(hasEnded ? 200 : 202);
      return reply.type('application/json').send(json);
    },
  });
  for (const [route, isPause] of [
    [ROUTES.pauseRun, true],
    [ROUTES.resumeRun, false],
  ] as const) {
    app.route<OfRun>({
      ...routeOptions(route),
      handler: async (request, reply) => {
        const { params, raw, caller } = request;
        await readBody(raw, nothing);
        const by = authorOf(request, params.id);
        const { json } = await operations.pause(caller.namespace, params.id, { isPause, by });
        return reply.type('application/json').send(json);
      },
    });
  }
}

/** Runs that ended and go on. */
function revivalRoutes(app: FastifyInstance, { operations }: Parts): void {
  const nothing = new Checker(NothingSaid);
  const rerun = new Checker(RerunRequest);
  for (const [route, operation] of [
    [ROUTES.retryRun, 'retry'],
    [ROUTES.restartRun, 'restart'],
  ] as const) {
    app.route<OfRun>({
      ...routeOptions(route),
      handler: async (request, reply) => {
        const { params, raw, caller } = request;
        await readBody(raw, nothing);
        const by = authorOf(request, params.id);
        const { json } = await operations.revive(caller.namespace, params.id, { operation, by });
        return reply.type('application/json').send(json);
      },
    });
  }
  app.route<OfRun>({
    ...routeOptions(ROUTES.rerunRun),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      const given = await readBody(raw, rerun);
      const by = authorOf(request, params.id);
      const revival = { ...given, operation: 'rerun', by } as const;
      const { json } = await operations.revive(caller.namespace, params.id, revival);
      return reply.type('application/json').send(json);
    },
  });
}

/** Steps that are ended from outside. */
function stepRoutes(app: FastifyInstance, { operations }: Parts): void {
  const completed = new Checker(CompleteStepRequest);
  const failed = new Checker(FailStepRequest);
  app.route<OfStep>({
    ...routeOptions(ROUTES.completeRunStep),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      const { output, key } = await readBody(raw, completed);
      const by = authorOf(request, `${params.id}/${params.step}`);
      const how = { operation: 'complete', value: output ?? null, message: '' } as const;
      const end = { ...how, key: keyNumber(key), by };
      const { json } = await operations.endStep(caller.namespace, params, end);
      return reply.type('application/json').send(json);
    },
  });
  const nothing = new Checker(NothingSaid);
  app.route<OfStep>({
    ...routeOptions(ROUTES.skipRunStep),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      await readBody(raw, nothing);
      const by = authorOf(request, `${params.id}/${params.step}`);
      const end = { operation: 'skip', value: null, message: '', by } as const;
      const { json } = await operations.endStep(caller.namespace, params, end);
      return reply.type('application/json').send(json);
    },
  });
  app.route<OfStep>({
    ...routeOptions(ROUTES.failRunStep),
    handler: async (request, reply) => {
      const { params, raw, caller } = request;
      const { error, key } = await readBody(raw, failed);
      const by = authorOf(request, `${params.id}/${params.step}`);
      const { message } = error;
      const how = { operation: 'fail', value: error, message } as const;
      const end = { ...how, key: keyNumber(key), by };
      const { json } = await operations.endStep(caller.namespace, params, end);
      return reply.type('application/json').send(json);
    },
  });
}
