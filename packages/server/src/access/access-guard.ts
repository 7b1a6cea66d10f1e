import type { IncomingMessage } from 'node:http';
import { DEFAULT_NAMESPACE } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { ACCESS, type Access, mayCall, SluiceError } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
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

/** What a call requires of its caller. A call that requires nothing refuses every caller. */
interface Requirement {
  readonly access?: Access | undefined;
  readonly isServerWide?: boolean | undefined;
}

/** Passes requests that their caller may make, and refuses every other with a reason. */
export class AccessGuard {
  private readonly authenticator: Authenticator;
  private readonly engine: Engine;

  constructor(authenticator: Authenticator, engine: Engine) {
    this.authenticator = authenticator;
    this.engine = engine;
  }

  /**
   * The caller, who may make this call; throws a refusal otherwise. Any caller with a valid key may
   * learn that a route does not exist: then there is no requirement.
   */
  admit(request: IncomingMessage, requirement: Requirement | undefined): Caller {
    const authorization = request.headers.authorization ?? cookieAuthorization(request);
    const caller = this.authenticator.authenticate(authorization, clientOf(request).address);
    if (requirement !== undefined) checkRole(requirement, caller);
    return caller;
  }

  /**
   * The key may have been created or revoked a moment ago. A refusal shows that, so it waits until
   * the change is durable (L2). Never rejects.
   */
  settled(): Promise<void> {
    return this.engine.read(() => undefined).catch(() => undefined);
  }
}

/** Every route that is registered from here on needs a caller with access. */
export function guardRoutes(app: FastifyInstance, guard: AccessGuard): void {
  app.decorateRequest('caller');
  app.addHook('onRequest', (request, _reply, done) => {
    const { config } = request.routeOptions;
    if (config.access === 'open') return done();
    try {
      request.caller = guard.admit(request.raw, request.is404 ? undefined : config);
    } catch (refusal) {
      void guard.settled().then(() => done(refusal as Error));
      return;
    }
    done();
  });
}

function checkRole(requirement: Requirement, { roles, namespace }: Caller): void {
  const { access, isServerWide = false } = requirement;
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
