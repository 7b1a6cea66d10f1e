import { expect, test } from 'vitest';
import { ConnectionLostError, Session } from './session.ts';
import { parseStoreAddress, StoreAddressError } from './store-address.ts';

test('an address has a schema, and the driver does not see it', () => {
  const address = parseStoreAddress(
    'postgres://ann:secret@db:5433/tasks?schema=blue&sslmode=require',
  );

  expect(address.schema).toBe('blue');
  expect(address.url).toBe('postgres://ann:secret@db:5433/tasks?sslmode=require');
  expect(parseStoreAddress('postgresql://db/tasks').schema).toBe('sluice');
});

test('what is shown of an address has neither user nor password', () => {
  const { shown } = parseStoreAddress('postgres://ann:secret@db:5433/tasks');

  expect(shown).toBe('postgres://db:5433/tasks (schema sluice)');
});

test.each(['', 'db:5432', 'mysql://ann:secret@db/tasks', 'postgres://ann:sec ret@'])(
  'an address like %j is refused without repeating it',
  (text) => {
    expect(() => parseStoreAddress(text)).toThrow(StoreAddressError);
    expect(() => parseStoreAddress(text)).toThrow("write it as 'postgres://USER");
    expect(() => parseStoreAddress(text)).not.toThrow('sec');
  },
);

test.each(['Blue', 'a"b', '', 'x'.repeat(49)])('a schema named %j is refused', (schema) => {
  const text = `postgres://db/tasks?schema=${encodeURIComponent(schema)}`;

  expect(() => parseStoreAddress(text)).toThrow("'schema' of the store must have 1 to 48");
});

test('a server that cannot be reached is named without the password', async () => {
  const address = parseStoreAddress('postgres://ann:secret@127.0.0.1:1/tasks');

  const opening = Session.open(address, 'test');

  await expect(opening).rejects.toThrow(ConnectionLostError);
  await expect(opening).rejects.toThrow('no connection to postgres://127.0.0.1:1/tasks');
  await expect(opening).rejects.not.toThrow('secret');
});
