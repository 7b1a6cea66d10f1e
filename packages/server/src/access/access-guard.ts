import { DEFAULT_NAMESPACE } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { ACCESS, type Access, mayCall, SluiceError } from '@sluice/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Authenticator } from './authenticator.ts';
import type { Caller } from './caller.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the call is for. A route that does not say is for nobody. */
    access?: Access;
    /** What it shows is of all namespaces, so it is for those who are over all of them. */
    isServerWide?: boolean;
  }
}

/** Lets a request pass that its caller may make, and says of every other why not. */
export function guardAccess(
  app: FastifyInstance,
  authenticator: Authenticator,
  engine: Engine,
): void {
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.access === 'open') return done();
    try {
      const { authorization } = request.headers;
      const caller = authenticator.authenticate(authorization, request.ip);
      checkRole(request, caller);
      request.caller = caller;
    } catch (refusal) {
      // A key may have been made or revoked a moment ago: nobody hears of it before it is durable
      // (L2).
      const refuse = (): void => done(refusal as Error);
      engine.read(() => undefined).then(refuse, refuse);
      return;
    }
    done();
  });
}

function checkRole({ routeOptions, is404 }: FastifyRequest, { role, namespace }: Caller): void {
  // What is not there may be asked for by anybody who has a key.
  if (is404) return;
  const { access, isServerWide = false } = routeOptions.config;
  if (access === undefined || !mayCall(role, access)) {
    const roles = access === undefined || access === 'open' ? [] : ACCESS[access];
    throw forbidden(`a key with the role ${role} does not allow this; it needs ${listed(roles)}`);
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
