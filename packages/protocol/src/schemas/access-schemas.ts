import { type Static, Type } from 'typebox';
import { notTogether } from '../base/documented.ts';
import { LIMITS } from '../base/limits.ts';
import { literals } from '../base/literals.ts';
import { ROLES } from '../base/roles.ts';
import { idOf } from './id-schemas.ts';
import { ListQuery } from './task-operation-schemas.ts';

export const Role = literals(ROLES, { description: 'What the holder of the key may do.' });

const Roles = Type.Array(Role, {
  minItems: 1,
  maxItems: ROLES.length,
  uniqueItems: true,
  description: 'What the holder of the key may do: all that one of the roles allows.',
  examples: [['worker', 'submitter']],
});

const Namespace = Type.String({
  pattern: '^[A-Za-z0-9._:-]{1,64}$',
  allowed: '1 to 64 letters A to Z or a to z, digits and . _ : - without spaces, such as team-a',
  description: 'Namespace of the key. Its holder cannot see tasks, queues and workers of others.',
});

const expiresInMs = Type.Optional(
  Type.Integer({
    minimum: LIMITS.keyLifeMsMin,
    maximum: LIMITS.keyLifeMsMax,
    description: 'Time until the key expires. Default: never.',
  }),
);

/** Describes a new key, or names an existing key that it replaces. */
export const KeyRequest = Type.Object(
  {
    role: Type.Optional(Role),
    roles: Type.Optional(Roles),
    namespace: Type.Optional(Namespace),
    name: Type.Optional(
      Type.String({
        pattern: '^[^\\u0000-\\u001f\\u007f]{0,128}$',
        allowed: 'at most 128 characters on one line, such as laptop of Ada',
        description: 'Name of the key, such as its owner.',
      }),
    ),
    replaces: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        allowed: 'the id of a key, such as k_019a8b0c6d2f1a2b3c4d',
        description:
          'Id of an old key. The new key gets its roles, namespace and name, so do not send ' +
          'these. The old key expires after `overlapMs`.',
      }),
    ),
    overlapMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: LIMITS.keyLifeMsMax,
        default: LIMITS.keyOverlapMsDefault,
        description: 'How long the old key still works.',
      }),
    ),
    expiresInMs,
  },
  {
    additionalProperties: false,
    documented: {
      ...notTogether(
        ['role', 'roles'],
        ['replaces', 'role'],
        ['replaces', 'roles'],
        ['replaces', 'namespace'],
        ['replaces', 'name'],
      ),
      anyOf: [{ required: ['role'] }, { required: ['roles'] }, { required: ['replaces'] }],
      dependentRequired: { overlapMs: ['replaces'] },
    },
    examples: [{ role: 'worker', namespace: 'studio', name: 'worker of the studio' }],
  },
);
export type KeyRequest = Static<typeof KeyRequest>;

const Time = Type.String({ format: 'date-time' });

export const KeyView = Type.Object({
  id: Type.String({ examples: ['k_019a8b0c6d2f1a2b3c4d'] }),
  namespace: Type.String(),
  roles: Roles,
  name: Type.String(),
  createdAt: Time,
  expiresAt: Type.Union([Time, Type.Null()]),
  expired: Type.Boolean({ description: 'It no longer works, and can be revoked.' }),
  lastUsedAt: Type.Union([Time, Type.Null()], {
    description: 'Last use since the server started; null if there was none.',
  }),
});
export type KeyView = Static<typeof KeyView>;

export const NewKeyView = Type.Object({
  key: Type.String({
    description: 'The key itself. It is shown only once: the server stores only a hash.',
  }),
  ...KeyView.properties,
});
export type NewKeyView = Static<typeof NewKeyView>;

export const LoginRequest = Type.Object(
  { key: Type.String({ minLength: 1, maxLength: 256, description: 'The text of the key.' }) },
  { additionalProperties: false },
);

export const CallerView = Type.Object({
  actor: Type.String({ description: 'Id of the key; `local` if the server has no keys.' }),
  namespace: Type.String(),
  roles: Roles,
  expiresAt: Type.Union([Time, Type.Null()], {
    description: 'When the key expires; null if it never does.',
  }),
});
export type CallerView = Static<typeof CallerView>;

export const KeyParams = Type.Object({ id: idOf('a key', 'k_019a8b0c6d2f1a2b3c4d') });
export type KeyParams = Static<typeof KeyParams>;

export const AuditQuery = Type.Object(
  {
    ...ListQuery.properties,
    action: Type.Optional(Type.String({ maxLength: 64, description: 'Only this action.' })),
    actor: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only changes made with this key.' }),
    ),
  },
  { additionalProperties: false },
);
export type AuditQuery = Static<typeof AuditQuery>;

export const AuditView = Type.Object({
  id: Type.String({ examples: ['a_12'] }),
  at: Time,
  namespace: Type.String(),
  actor: Type.String({
    description:
      'Id of the key; `local` if no key was needed, `data-folder` for a command on the folder.',
  }),
  address: Type.String({ description: 'Where the request came from.' }),
  requestId: Type.String(),
  action: Type.String({ examples: ['key_created', 'queue_paused'] }),
  subject: Type.String({ description: 'What was changed.' }),
  detail: Type.String(),
});
export type AuditView = Static<typeof AuditView>;
