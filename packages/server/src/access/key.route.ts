import { AuditQuery, type KeyParams, KeyRequest, ListQuery, ROUTES } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { Checker } from '../base/validation.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import { authorOf } from './caller.ts';
import { type KeyOperations, requestedRoles } from './key-operations.ts';
import { makeKey, withoutKeys } from './key-text.ts';

interface KeyRouteParts {
  readonly clock: () => number;
  /** A key was revoked: its streams and waits end now. */
  readonly onRevoked: () => void;
}

export function keyRoutes(
  app: FastifyInstance,
  operations: KeyOperations,
  { clock, onRevoked }: KeyRouteParts,
): void {
  const create = new Checker(KeyRequest);
  app.route({
    ...routeOptions(ROUTES.createKey),
    handler: async (request, reply) => {
      const wanted = await readBody(request.raw, create);
      const key = makeKey(clock());
      const by = authorOf(request, key.id, detailOf(wanted));
      const made = await operations.create(request.caller.namespace, wanted, key, by);
      // No cache may keep the one answer that contains the key.
      return reply.code(201).header('cache-control', 'no-store').send(made);
    },
  });
  app.route<{ Params: KeyParams }>({
    ...routeOptions(ROUTES.revokeKey),
    handler: async (request, reply) => {
      const { id } = request.params;
      const by = authorOf(request, withoutKeys(id));
      await operations.revoke(request.caller.namespace, id, by);
      onRevoked();
      return reply.code(204).send();
    },
  });
  const page = new Checker(ListQuery);
  const audits = new Checker(AuditQuery);
  app.route({
    ...routeOptions(ROUTES.listKeys),
    handler: async ({ query, caller }, reply) => {
      const json = await operations.list(caller.namespace, parseQuery(page, query));
      return reply.type('application/json').send(json);
    },
  });
  app.route({
    ...routeOptions(ROUTES.listAudit),
    handler: async ({ query, caller }, reply) => {
      const json = await operations.audit(caller.namespace, parseQuery(audits, query));
      return reply.type('application/json').send(json);
    },
  });
}

/** Describes a new key for the audit record. */
export function detailOf(request: KeyRequest): string {
  const { namespace, replaces, expiresInMs } = request;
  const what =
    replaces === undefined ? requestedRoles(request).join() : `replaces ${withoutKeys(replaces)}`;
  const where = namespace === undefined ? '' : ` of ${namespace}`;
  return `${what}${where}${expiresInMs === undefined ? '' : `, ends in ${expiresInMs} ms`}`;
}
