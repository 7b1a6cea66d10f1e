import fc from 'fast-check';
import type { CreateAccessKey } from '../../commands/access/create-access-key.ts';
import type { RevokeAccessKey } from '../../commands/access/revoke-access-key.ts';
import type { Operated } from './world-operations.ts';

/** Few enough to repeat. */
const keyIds = fc.nat(5).map((number) => `k_${number}`);

const authors = fc.constantFrom(undefined, {
  actor: 'k_0',
  address: '192.0.2.1',
  request: 'q_1',
  subject: 'a key',
  detail: '',
});

/** Operations of admins on access keys. */
export const accessOperations = fc.record({
  id: keyIds,
  by: authors,
  operation: fc.oneof(
    { weight: 2, arbitrary: fc.record({ revoke: fc.constant(true) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        expiresInMs: fc.constantFrom(undefined, undefined, 500, 5000),
        create: fc.record({
          namespace: fc.constantFrom('default', 'other'),
          role: fc.constantFrom('admin', 'admin', 'worker'),
          name: fc.constantFrom('', 'nightly'),
        }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        expiresInMs: fc.constantFrom(undefined, 5000),
        create: fc.record({ replaces: keyIds, overlapMs: fc.constantFrom(0, 800) }),
      }),
    },
  ),
});

type AccessOperation = typeof accessOperations extends fc.Arbitrary<infer T> ? T : never;

export function operateOnAccess({ partition }: Operated, action: AccessOperation): void {
  const { id, operation } = action;
  const by = action.by === undefined ? {} : { by: action.by };
  if ('revoke' in operation) {
    partition.operate<RevokeAccessKey>({ type: 'revoke_access_key', id, ...by });
    return;
  }
  const { create: key, expiresInMs } = operation;
  const expiry = expiresInMs === undefined ? {} : { expiresInMs };
  const hash = `hash of ${id}`;
  partition.operate<CreateAccessKey>({
    type: 'create_access_key',
    id,
    hash,
    key,
    ...expiry,
    ...by,
  });
}
