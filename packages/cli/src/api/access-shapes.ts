/** Fields of key answers that the command line reads. */

export interface AccessKey {
  readonly id: string;
  readonly namespace: string;
  readonly role: string;
  readonly name: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly expired: boolean;
  readonly lastUsedAt: string | null;
}

export interface NewAccessKey extends AccessKey {
  /** Text of the key. */
  readonly key: string;
}

export interface AuditRecord {
  readonly at: string;
  readonly actor: string;
  readonly address: string;
  readonly namespace: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}
