import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PostgresLog } from '../log/postgres-log.ts';
import { Notes } from '../notes/notes.ts';
import { TempStore } from '../testing/store-fixture.ts';
import { HoldStore } from './hold-store.ts';

let store: TempStore;
const opened: HoldStore[] = [];

beforeEach(async () => {
  store = await TempStore.create();
});

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await store.dispose();
});

function open(): HoldStore {
  const made = new HoldStore(store.address, randomUUID());
  opened.push(made);
  return made;
}

test('a free hold is claimed by one of several servers', async () => {
  const servers = [open(), open(), open()];
  const seen = await servers[0].look();
  expect(seen).toMatchObject({ epoch: 0, runId: undefined, address: undefined });

  const epochs = await Promise.all(servers.map((each) => each.claim(seen, 'http://a', true)));

  expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([expect.any(Number)]);
});

test('a hold that is not over is claimed only if its owner is known to be gone', async () => {
  const [owner, other] = [open(), open()];
  const first = await owner.claim(await owner.look(), 'http://a', true);
  const seen = await other.look();

  expect(await other.claim(seen, 'http://b', false)).toBeUndefined();
  const second = Number(await other.claim(seen, 'http://b', true));
  expect(second).toBeGreaterThan(Number(first));
  expect(await owner.renew(Number(first))).toBeUndefined();
  expect(await other.renew(second)).toMatchObject({
    renewals: 1,
    isExpired: false,
    handOff: false,
  });
});

test('appends of the epoch before fail after a claim', async () => {
  const [owner, other] = [open(), open()];
  const epoch = await owner.claim(await owner.look(), '', true);
  const log = await PostgresLog.open({ address: store.address, epoch: epoch as number });
  const { tail } = await log.acquire();
  const batch = { epoch: Number(epoch), nonce: 5, recordCount: 1, bytes: new Uint8Array([1]) };
  expect(await log.append({ ...batch, expectedTail: tail })).toBe('ok');

  await other.claim(await other.look(), '', true);

  expect(await log.append({ ...batch, nonce: 6, expectedTail: tail + 1 })).toBe('fenced');
  await expect(log.acquire()).rejects.toThrow(`epoch ${epoch} was followed by`);
  await log.close();
});

test('what was released is free at once', async () => {
  const [owner, other] = [open(), open()];
  const epoch = await owner.claim(await owner.look(), 'http://a', true);
  await owner.tryLock();

  await owner.release(Number(epoch));

  const seen = await other.look();
  expect(seen).toMatchObject({ runId: undefined, isExpired: true });
  expect(await other.tryLock()).toBe(true);
  expect(await other.claim(seen, 'http://b', false)).toBeGreaterThan(Number(epoch));
});

test('one connection has the lock, until it ends', async () => {
  const [owner, other] = [open(), open()];
  expect(await owner.tryLock()).toBe(true);
  expect(await owner.tryLock()).toBe(true);
  expect(await other.tryLock()).toBe(false);

  await owner.close();

  expect(await other.tryLock()).toBe(true);
});

test('servers are listed until they leave, and a hand-off is asked for', async () => {
  const server = open();
  await server.beat({
    address: 'http://a',
    version: '1',
    position: 2 ** 40,
    level: 1,
    generation: '',
  });
  expect(await server.askHandOff()).toBe(false);
  await server.claim(await server.look(), 'http://a', true);
  expect(await server.askHandOff()).toBe(true);

  expect(await server.look()).toMatchObject({ handOff: true });
  expect(await server.servers()).toMatchObject([{ address: 'http://a', position: 2 ** 40 }]);
  await server.leave();
  expect(await server.servers()).toEqual([]);
});

test('notes are replaced', async () => {
  const notes = new Notes(store.address);
  expect(await notes.read('a')).toBeUndefined();

  await notes.write('a', 'one');
  await notes.write('a', 'twö\0');

  expect(await notes.read('a')).toBe('twö\0');
  await notes.close();
});

test('a claim that was lost with the database gives its epoch to nobody else', async () => {
  const first = await open();
  const second = await open();
  const seen = await first.look();
  const lost = await first.claim(seen, '', true);
  for (const table of ['hold', 'partition']) {
    await store.query(`UPDATE $schema.${table} SET epoch = $1`, [seen.epoch]);
  }

  const epoch = await second.claim(await second.look(), '', true);

  expect(epoch).toBeGreaterThan(lost as number);
});
