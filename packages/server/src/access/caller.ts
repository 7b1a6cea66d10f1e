import { DEFAULT_NAMESPACE } from '@sluice/core';

/** Whom a request speaks for: all that it may see and do is in one namespace. */
export interface Caller {
  readonly namespace: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs. */
    caller: Caller;
  }
}

/** Whoever reaches a server that has no keys. */
export const LOCAL_CALLER: Caller = { namespace: DEFAULT_NAMESPACE };
