import type {
  Author,
  CreateAccessKey,
  CreateAccessKeyReply,
  RevokeAccessKey,
  RevokeAccessKeyReply,
} from './access-commands.ts';
import { type AccessKey, hasExpired, isOver, isServerAdmin } from './access-keys.ts';
import type { Decision } from './decision.ts';

/** Each is looked through when one is made or revoked, and all of them are in every snapshot. */
export const ACCESS_KEYS_MAX = 10_000;

/** Makes a key that works from here on; one that takes another's place is what that one was. */
export function decideCreateAccessKey(
  decision: Decision,
  command: CreateAccessKey,
): CreateAccessKeyReply {
  const { state, emit, events, now } = decision;
  const { id, hash, key, expiresInMs } = command;
  const old = 'replaces' in key ? find(decision, command.namespace, key.replaces) : undefined;
  if ('replaces' in key && old === undefined) return { rejection: 'access_key_not_found' };
  const made = old ?? (key as Exclude<typeof key, { replaces: string }>);
  if (!isOver(command.namespace, made.namespace)) return { rejection: 'foreign_namespace' };
  if (state.accessKeys.get(id) !== undefined) return { rejection: 'access_key_known' };
  if (state.accessKeys.size >= ACCESS_KEYS_MAX) return { rejection: 'too_many_access_keys' };
  if (state.accessKeys.size === 0 && !isServerAdmin(made)) return { rejection: 'first_key' };

  const event = events.accessKeyCreated;
  event.key = id;
  event.namespace = made.namespace;
  event.role = made.role;
  event.name = made.name;
  event.hash = hash;
  event.expiresAt = expiresInMs === undefined ? 0 : now + expiresInMs;
  emit(event);
  if (old !== undefined && 'replaces' in key) endSooner(decision, old, now + key.overlapMs);
  audit(decision, command.by, { namespace: made.namespace, action: 'key_created' });
  return {};
}

function endSooner({ emit, events }: Decision, { id, expiresAt }: AccessKey, at: number): void {
  if (expiresAt !== 0 && expiresAt <= at) return;
  events.accessKeyExpirySet.key = id;
  events.accessKeyExpirySet.expiresAt = at;
  emit(events.accessKeyExpirySet);
}

/** From here on the key is worth nothing. */
export function decideRevokeAccessKey(
  decision: Decision,
  command: RevokeAccessKey,
): RevokeAccessKeyReply {
  const { state, emit, events, now } = decision;
  const key = find(decision, command.namespace, command.id);
  if (key === undefined) return { rejection: 'access_key_not_found' };
  const admins = [...state.accessKeys.values()].filter(isServerAdmin);
  const isLast = admins.every((admin) => admin === key || hasExpired(admin, now));
  if (isServerAdmin(key) && isLast) return { rejection: 'last_admin_key' };

  events.accessKeyRevoked.key = key.id;
  emit(events.accessKeyRevoked);
  audit(decision, command.by, { namespace: key.namespace, action: 'key_revoked' });
  return {};
}

function find({ state }: Decision, namespace: string, id: string): AccessKey | undefined {
  const key = state.accessKeys.get(id);
  return key !== undefined && isOver(namespace, key.namespace) ? key : undefined;
}

interface Change {
  readonly namespace: string;
  readonly action: string;
}

/** Puts down who made a change, in the record of the change itself. */
export function audit(
  { emit, events }: Decision,
  by: Author | undefined,
  { namespace, action }: Change,
): void {
  if (by === undefined) return;
  emit(Object.assign(events.auditRecorded, by, { namespace, action }));
}
