import { expect, inject, test } from 'vitest';
import { parseStoreAddress } from './store-address.ts';
import { SyncSession } from './sync-session.ts';

test('a statement after the end fails at once, because nobody would answer', () => {
  const session = new SyncSession(parseStoreAddress(inject('postgresAddress')));
  expect(session.query('SELECT 1 AS n').rows).toEqual([{ n: 1 }]);

  session.close();

  expect(() => session.query('SELECT 1')).toThrow('the connection is closed');
});
