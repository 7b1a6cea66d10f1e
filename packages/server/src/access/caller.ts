import { type Author, DEFAULT_NAMESPACE } from '@sluice/core';
import type { Role } from '@sluice/protocol';
import type { FastifyRequest } from 'fastify';

/** Whom a request speaks for: all that it may see and do is in one namespace. */
export interface Caller {
  readonly namespace: string;
  readonly role: Role;
  /** Id of the key, or a word for whoever needed none. */
  readonly actor: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs, except of calls that are open to all. */
    caller: Caller;
  }
}

/** Whoever reaches a server that has no keys. */
export const LOCAL_CALLER: Caller = {
  namespace: DEFAULT_NAMESPACE,
  role: 'admin',
  actor: 'local',
};

/** Who makes a change, for the record of it. What is changed is said without secrets. */
export function authorOf({ caller, ip, id }: FastifyRequest, subject: string, detail = ''): Author {
  return {
    actor: caller.actor,
    address: plainAddress(ip),
    request: id,
    subject: subject.slice(0, AUDIT_TEXT_MAX),
    detail: detail.slice(0, AUDIT_TEXT_MAX),
  };
}

/** Records are kept for long, so what they say of a request has a bound. */
const AUDIT_TEXT_MAX = 256;

/**
 * An IPv4 client of a socket for both has an address that looks like one of IPv6. One that is gone
 * has none.
 */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
