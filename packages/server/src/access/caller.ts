import { type Author, DEFAULT_NAMESPACE } from '@sluice/core';
import type { Role } from '@sluice/protocol';
import type { FastifyRequest } from 'fastify';
import { clientOf } from '../http/client.ts';

/** The caller of a request. Everything that the caller may see and do is in one namespace. */
export interface Caller {
  readonly namespace: string;
  readonly roles: readonly Role[];
  /** Id of the key, or `local` on a server without keys. */
  readonly actor: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before any handler runs, except for calls that are open to all. */
    caller: Caller;
  }
}

/** The caller of every request to a server that has no keys. */
export const LOCAL_CALLER: Caller = {
  namespace: DEFAULT_NAMESPACE,
  roles: ['admin'],
  actor: 'local',
};

/** The author of a change, for the audit record. `subject` and `detail` contain no secrets. */
export function authorOf(
  { caller, raw, id }: FastifyRequest,
  subject: string,
  detail = '',
): Author {
  return {
    actor: caller.actor,
    address: plainAddress(clientOf(raw).address),
    request: id,
    subject: subject.slice(0, AUDIT_TEXT_MAX),
    detail: detail.slice(0, AUDIT_TEXT_MAX),
  };
}

/** Audit records are kept for a long time, so their texts are bounded. */
const AUDIT_TEXT_MAX = 256;

/**
 * On a dual-stack socket an IPv4 client has an IPv4-mapped IPv6 address. A client that disconnected
 * has no address.
 */
export function plainAddress(address: string | undefined): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
