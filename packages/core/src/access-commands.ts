/** What an admin does about keys. Both are of the namespace that the admin's own key is of. */
export type AccessCommand = CreateAccessKey | RevokeAccessKey;

/**
 * Who wants a change, and how it is to be called in the record of it. A command that has no author
 * leaves none.
 */
export interface Author {
  /** Id of a key, or a word for whoever needed none. */
  readonly actor: string;
  readonly address: string;
  readonly request: string;
  /** What is changed, by a name that people know. Never a secret. */
  readonly subject: string;
  readonly detail: string;
}

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

export interface RevokeAccessKey {
  readonly type: 'revoke_access_key';
  readonly now: number;
  readonly namespace: string;
  readonly id: string;
  readonly by?: Author;
}

export interface RevokeAccessKeyReply {
  /** The last key of an admin of the default namespace is not revoked: see above. */
  readonly rejection?: 'access_key_not_found' | 'last_admin_key';
}

export interface AccessCommandReplies {
  readonly create_access_key: CreateAccessKeyReply;
  readonly revoke_access_key: RevokeAccessKeyReply;
}
