/** What the command line reads of answers about keys. */

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
  /** Its text. */
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
