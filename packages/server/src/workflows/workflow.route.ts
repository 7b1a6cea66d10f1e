import type { DeleteWorkflow, PutWorkflow, PutWorkflowReply, ReadonlyState } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type ErrorDetail,
  ListQuery,
  PutWorkflowQuery,
  ROUTES,
  SluiceError,
  VersionParams,
  type WorkflowChange,
  WorkflowParams,
} from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { authorOf } from '../access/caller.ts';
import { placedPage } from '../answers/pages.ts';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readJsonBody } from '../http/whole-body.ts';
import type { Admission } from '../limits/admission.ts';
import type { Scripts } from '../scripts/scripts.ts';
import {
  checkedDefinition,
  definitionWarnings,
  refuseProblems,
  scriptProblems,
} from './definition-check.ts';
import {
  definitionJson,
  tooManyWorkflows,
  workflowNotFound,
  workflowView,
} from './workflow-views.ts';

const names = new Checker(WorkflowParams);
const versions = new Checker(VersionParams);
const list = new Checker(ListQuery);
const puts = new Checker(PutWorkflowQuery);

/** Definitions of workflows. */
export function workflowRoutes(app: FastifyInstance, parts: Parts): void {
  readRoutes(app, parts);
  changeRoutes(app, parts);
}

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly scripts: Pick<Scripts, 'check'>;
}

function nameOf(params: unknown): string {
  return names.parse(params, 'the path is not valid').name;
}

/** The version is a text in the path. */
function versionOf(params: unknown): VersionParams {
  const { name, version } = params as { readonly name: string; readonly version: string };
  const number = /^\d{1,15}$/.test(version) ? Number(version) : version;
  return versions.parse({ name, version: number }, 'the path is not valid');
}

function readRoutes(app: FastifyInstance, { engine, admission }: Parts): void {
  app.route({
    ...routeOptions(ROUTES.listWorkflows),
    handler: async ({ query, caller: { namespace } }, reply) => {
      const page = parseQuery(list, query);
      admission.read();
      const json = await engine.read((state) => {
        const all = new Set(state.programs.registered(namespace).map(({ name }) => name));
        const places = [...all].map((place) => ({ place }));
        const show = ({ place }: { place: string }) => workflowView(state, namespace, place) ?? {};
        return placedPage(places, page, { show, now: state.now });
      });
      return reply.type('application/json').send(json);
    },
  });

  app.route({
    ...routeOptions(ROUTES.getWorkflow),
    handler: async ({ params, caller: { namespace } }) => {
      const name = nameOf(params);
      admission.read();
      return engine.read((state) => {
        const view = workflowView(state, namespace, name);
        if (view === undefined) throw workflowNotFound(name);
        return view;
      });
    },
  });

  app.route({
    ...routeOptions(ROUTES.getWorkflowVersion),
    handler: async ({ params, caller: { namespace } }, reply) => {
      const { name, version } = versionOf(params);
      admission.read();
      const json = await engine.read(({ programs }) => {
        const program = programs.version(namespace, name, version);
        if (program === undefined) throw workflowNotFound(name, version);
        return definitionJson(program);
      });
      return reply.type('application/json').send(json);
    },
  });
}

function changeRoutes(app: FastifyInstance, { engine, admission, scripts }: Parts): void {
  app.route({
    ...routeOptions(ROUTES.putWorkflowVersion),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const { name, version } = versionOf(request.params);
      const { dryRun = 'false' } = parseQuery(puts, request.query);
      const problems: ErrorDetail[] = [];
      const body = await readJsonBody(request.raw);
      const definition = checkedDefinition(body, '', problems);
      problems.push(...(await scriptProblems(body, '', scripts)));
      refuseProblems(problems);
      const type = 'put_workflow';
      admission.command(type);
      if (dryRun === 'true') {
        const order = { namespace, name, version };
        const planned = await engine.read((state) => plannedChange(state, order, definition.hash));
        return { ...planned, warnings: definitionWarnings(body) };
      }
      const by = authorOf(request, `${name}/${version}`);
      const command = { type, namespace, name, version, definition, by } as const;
      const put = await engine.execute<PutWorkflow, PutWorkflowReply>(command, (answer) => {
        if (answer.rejection !== undefined) throw refusalOf(answer.rejection, name, version);
        return answer;
      });
      const { hash } = definition;
      reply.code(put.existed ? 200 : 201);
      const warnings = definitionWarnings(body);
      return { name, version, hash, change: changeOf(put), dryRun: false, warnings };
    },
  });

  app.route({
    ...routeOptions(ROUTES.deleteWorkflowVersion),
    handler: async (request, reply) => {
      const { namespace } = request.caller;
      const { name, version } = versionOf(request.params);
      const type = 'delete_workflow';
      admission.command(type);
      const by = authorOf(request, `${name}/${version}`);
      const command = { type, namespace, name, version, by } as const;
      await engine.execute<DeleteWorkflow, void>(command, ({ rejection }) => {
        if (rejection !== undefined) throw workflowNotFound(name, version);
      });
      return reply.code(204).send();
    },
  });
}

interface Order {
  readonly namespace: string;
  readonly name: string;
  readonly version: number;
}

/** What `put_workflow` would answer. */
function plannedChange(
  { programs }: ReadonlyState,
  { namespace, name, version }: Order,
  hash: string,
): Omit<WorkflowChange, 'warnings'> {
  const before = programs.version(namespace, name, version);
  const changed = before?.hash !== hash;
  if (changed && before?.wasUsed) throw refusalOf('version_in_use', name, version);
  const change = changeOf({ existed: before !== undefined, changed });
  return { name, version, hash, change, dryRun: true };
}

function changeOf({ existed, changed }: PutWorkflowReply): 'new' | 'changed' | 'unchanged' {
  if (!existed) return 'new';
  return changed ? 'changed' : 'unchanged';
}

function refusalOf(
  rejection: NonNullable<PutWorkflowReply['rejection']>,
  name: string,
  version: number,
): SluiceError {
  switch (rejection) {
    case 'version_in_use': {
      const todo = `register the definition as version ${version + 1}`;
      const message = `version ${version} of '${name}' has had runs and cannot change; ${todo}`;
      return new SluiceError(rejection, message);
    }
    case 'too_many_workflows':
      return tooManyWorkflows();
    default:
      return new SluiceError('invalid_definition', 'the definition is not valid');
  }
}
