import { type EventDeclaration, hiddenText, number, text } from './fields.ts';

/** Events about keys, and the record of who changed what. Slot and task are 0. */
export const ACCESS_EVENTS = {
  /** From here on whoever has the text behind this hash may act in the namespace. */
  access_key_created: {
    number: 25,
    version: 1,
    fields: {
      key: text,
      namespace: text,
      role: text,
      name: text,
      /** Of the key's text, which nobody but its holder has. */
      hash: hiddenText,
      /** 0 for never. */
      expiresAt: number,
    },
  },

  /** A key that another one replaces works for a while longer. */
  access_key_expiry_set: { number: 26, version: 1, fields: { key: text, expiresAt: number } },

  access_key_revoked: { number: 27, version: 1, fields: { key: text } },

  /** Somebody changed something that concerns others. Its time is that of its record. */
  audit_recorded: {
    number: 28,
    version: 1,
    fields: {
      /** Where the change was made. */
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
