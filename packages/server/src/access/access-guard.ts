import { DEFAULT_NAMESPACE } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { ACCESS, type Access, mayCall, SluiceError } from '@sluice/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientOf } from '../http/client.ts';
import type { Authenticator } from './authenticator.ts';
import type { Caller } from './caller.ts';
import { cookieAuthorization } from './key-cookie.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The access that the call requires. A route that declares none refuses every caller. */
    access?: Access;
    /**
     * The route shows data of all namespaces, so only callers of the default namespace may call it.
     */
    isServerWide?: boolean;
  }
}

/** Passes requests that their caller may make, and refuses every other with a reason. */
export function guardAccess(
  app: FastifyInstance,
  authenticator: Authenticator,
  engine: Engine,
): void {
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.access === 'open') return done();
    try {
      const authorization = request.headers.authorization ?? cookieAuthorization(request.raw);
      const caller = authenticator.authenticate(authorization, clientOf(request.raw).address);
      checkRole(request, caller);
      request.caller = caller;
    } catch (refusal) {
      // The key may have been created or revoked a moment ago. The refusal shows that, so it waits
      // until the change is durable (L2).
      const refuse = (): void => done(refusal as Error);
      engine.read(() => undefined).then(refuse, refuse);
      return;
    }
    done();
  });
}

function checkRole({ routeOptions, is404 }: FastifyRequest, { roles, namespace }: Caller): void {
  // Any caller with a valid key may learn that a route does not exist.
  if (is404) return;
  const { access, isServerWide = false } = routeOptions.config;
  if (access === undefined || !mayCall(roles, access)) {
    const needed = access === undefined || access === 'open' ? [] : ACCESS[access];
    const has = `${roles.length === 1 ? 'role' : 'roles'} ${roles.join(' and ')}`;
    throw forbidden(`a key with the ${has} does not allow this; it needs ${listed(needed)}`);
  }
  if (isServerWide && namespace !== DEFAULT_NAMESPACE) {
    throw forbidden(`this concerns all namespaces; it needs a key of '${DEFAULT_NAMESPACE}'`);
  }
}

function listed(roles: readonly string[]): string {
  return roles.length === 0 ? 'another role' : roles.join(' or ');
}

function forbidden(why: string): SluiceError {
  return new SluiceError('forbidden', why);
}
