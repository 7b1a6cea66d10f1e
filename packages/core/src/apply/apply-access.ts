import { invariant, unreachable } from '../base/invariant.ts';
import type { AccessEvent } from '../events/access-event.ts';
import type { State } from '../state/state.ts';

/** The part of `apply` that is about keys, and about who changed what. */
export function applyAccess(state: State, at: number, event: AccessEvent): void {
  const { accessKeys, audit } = state;
  switch (event.type) {
    case 'access_key_created': {
      const { key: id, namespace, role, name, hash, expiresAt } = event;
      return accessKeys.put({ id, namespace, role, name, hash, createdAt: at, expiresAt });
    }
    case 'access_key_expiry_set': {
      const key = accessKeys.get(event.key);
      invariant(key !== undefined, 'a key whose expiry is set is there');
      return accessKeys.put({ ...key, expiresAt: event.expiresAt });
    }
    case 'access_key_revoked':
      return accessKeys.remove(event.key);
    case 'audit_recorded':
      return audit.add(at, event);
    default:
      unreachable(event);
  }
}
