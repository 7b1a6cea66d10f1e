import type { ReadonlyState } from '@sluice/core';
import { type CallerView, LoginRequest, ROUTES } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { timeText } from '../base/time-text.ts';
import { Checker } from '../base/validation.ts';
import { clientOf } from '../http/client.ts';
import { routeOptions } from '../http/route-options.ts';
import { readBody } from '../http/whole-body.ts';
import type { Authenticator } from './authenticator.ts';
import type { Caller } from './caller.ts';
import { keyCookie } from './key-cookie.ts';

type Keys = Pick<ReadonlyState, 'accessKeys'>;

/** The console logs in and out, and asks whose key it has. */
export function loginRoutes(
  app: FastifyInstance,
  authenticator: Pick<Authenticator, 'authenticate'>,
  state: Keys,
): void {
  const check = new Checker(LoginRequest);
  app.route({
    ...routeOptions(ROUTES.logIn),
    handler: async (request, reply) => {
      const { key } = await readBody(request.raw, check);
      const { address } = clientOf(request.raw);
      const caller = authenticator.authenticate(`Bearer ${key}`, address);
      // A server without keys accepts every text; there is nothing to keep.
      if (caller.actor !== 'local') reply.header('set-cookie', keyCookie(request.raw, key));
      return reply.header('cache-control', 'no-store').send(callerView(caller, state));
    },
  });
  app.route({
    ...routeOptions(ROUTES.logOut),
    handler: async (request, reply) =>
      reply.code(204).header('set-cookie', keyCookie(request.raw, undefined)).send(),
  });
  app.route({
    ...routeOptions(ROUTES.getCaller),
    handler: async ({ caller }, reply) =>
      reply.header('cache-control', 'no-store').send(callerView(caller, state)),
  });
}

function callerView({ actor, namespace, roles }: Caller, { accessKeys }: Keys): CallerView {
  const expiresAt = accessKeys.get(actor)?.expiresAt ?? 0;
  const expires = expiresAt === 0 ? null : timeText(expiresAt);
  return { actor, namespace, roles: [...roles], expiresAt: expires };
}
