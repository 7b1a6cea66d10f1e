import { invariant } from '../base/invariant.ts';
import type { ACCESS_EVENTS } from '../events/access-events.ts';
import type { Appliers } from './applier.ts';

/** The part of `apply` for access keys and audit records. */
export const ACCESS_APPLIERS: Appliers<typeof ACCESS_EVENTS> = {
  access_key_created: ({ accessKeys }, at, event) => {
    const { key: id, namespace, role, name, hash, expiresAt } = event;
    accessKeys.put({ id, namespace, role, name, hash, createdAt: at, expiresAt });
  },
  access_key_expiry_set: ({ accessKeys }, _at, event) => {
    const key = accessKeys.get(event.key);
    invariant(key !== undefined, 'a key whose expiry is set is there');
    accessKeys.put({ ...key, expiresAt: event.expiresAt });
  },
  access_key_revoked: ({ accessKeys }, _at, event) => accessKeys.remove(event.key),
  audit_recorded: ({ audit }, at, event) => audit.add(at, event),
};
