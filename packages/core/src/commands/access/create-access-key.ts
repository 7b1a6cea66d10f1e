import { type Author, audit } from '../../decision/audit.ts';
import type { Decision } from '../../decision/decision.ts';
import { type AccessKey, isOver, isServerAdmin } from '../../state/access/access-keys.ts';
import { findAccessKey } from './find-access-key.ts';

/** Each is looked through when one is made or revoked, and all of them are in every snapshot. */
export const ACCESS_KEYS_MAX = 10_000;

export interface CreateAccessKey {
  readonly type: 'create_access_key';
  readonly now: number;
  readonly namespace: string;
  /** Made outside, as the text is, and never used before. */
  readonly id: string;
  /** Of the text. */
  readonly hash: string;
  /** What the key is to be, or the id of the one whose place it takes. */
  readonly key: NewKey | ReplacedKey;
  /** Undefined for never. */
  readonly expiresInMs?: number;
  readonly by?: Author;
}

interface NewKey {
  readonly namespace: string;
  readonly role: string;
  readonly name: string;
}

/** The old key stays as it is for a while, unless it expires before. */
interface ReplacedKey {
  readonly replaces: string;
  readonly overlapMs: number;
}

export interface CreateAccessKeyReply {
  /**
   * The first key has to be that of an admin of the default namespace: everybody needs a key from
   * then on, and nobody else could make one.
   */
  readonly rejection?:
    | 'too_many_access_keys'
    | 'access_key_known'
    | 'access_key_not_found'
    | 'foreign_namespace'
    | 'first_key';
}

/** Makes a key that works from here on; one that takes another's place is what that one was. */
export function decideCreateAccessKey(
  decision: Decision,
  command: CreateAccessKey,
): CreateAccessKeyReply {
  const { state, emit, events, now } = decision;
  const { id, hash, key, expiresInMs } = command;
  const old =
    'replaces' in key ? findAccessKey(decision, command.namespace, key.replaces) : undefined;
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
