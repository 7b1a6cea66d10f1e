import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { hasExpired, isServerAdmin } from '../../state/access/access-keys.ts';
import { findAccessKey } from './find-access-key.ts';

export interface RevokeAccessKey {
  readonly type: 'revoke_access_key';
  readonly now: number;
  readonly namespace: string;
  readonly id: string;
  readonly by?: Author;
}

export interface RevokeAccessKeyReply {
  /**
   * The last admin key of the default namespace cannot be revoked: without it no one could create
   * keys.
   */
  readonly rejection?: 'access_key_not_found' | 'last_admin_key';
}

/** Revokes a key. It stops working at once. */
export function decideRevokeAccessKey(
  decision: Decision,
  command: RevokeAccessKey,
): RevokeAccessKeyReply {
  const { state, emit, events, now } = decision;
  const key = findAccessKey(decision, command.namespace, command.id);
  if (key === undefined) return { rejection: 'access_key_not_found' };
  const admins = [...state.accessKeys.values()].filter(isServerAdmin);
  const isLast = admins.every((admin) => admin === key || hasExpired(admin, now));
  if (isServerAdmin(key) && isLast) return { rejection: 'last_admin_key' };

  events.accessKeyRevoked.key = key.id;
  emit(events.accessKeyRevoked);
  audit(decision, command.by, { namespace: key.namespace, action: 'key_revoked' });
  return {};
}
