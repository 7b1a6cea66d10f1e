import { type EventDeclaration, hiddenText, number, text } from './fields.ts';

/** Events about access keys, and the audit trail. Slot and task are 0. */
export const ACCESS_EVENTS = {
  /** From now on, the key with this hash gives access to the namespace. */
  access_key_created: {
    number: 25,
    version: 1,
    fields: {
      key: text,
      namespace: text,
      role: text,
      name: text,
      /** Hash of the key's text. Only the key's holder has the text. */
      hash: hiddenText,
      /** 0 for a key that never expires. */
      expiresAt: number,
    },
  },

  /** A replaced key works for a while longer. */
  access_key_expiry_set: { number: 26, version: 1, fields: { key: text, expiresAt: number } },

  access_key_revoked: { number: 27, version: 1, fields: { key: text } },

  /** The author of an administrative change. Its time is the time of its record. */
  audit_recorded: {
    number: 28,
    version: 1,
    fields: {
      /** The namespace of the change. */
      namespace: text,
      /** Id of the key, or a word for a caller that needed none. */
      actor: text,
      /** Where the request came from. */
      address: text,
      request: text,
      action: text,
      subject: text,
      detail: text,
    },
  },
} as const satisfies Record<string, EventDeclaration>;
