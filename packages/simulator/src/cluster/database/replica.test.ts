import { appendTexts, batchAfter, readTexts } from '@sluice/log/testing/log-fixture';
import { PostgresLog } from '@sluice/postgres';
import { expect, test } from 'vitest';
import { openModel } from './testing/model-fixture.ts';

/** More than an answer of the model takes beside other work. */
const SILENCE_MS = 100;

test('a batch whose wait was ended is a duplicate once the replica has it', async () => {
  const { database, address } = openModel();
  const log = await PostgresLog.open({ address, silenceMs: SILENCE_MS });
  const hold = await appendTexts(log, await log.acquire(), ['before']);
  database.stickReplica();
  const batch = batchAfter(hold, { bytes: Buffer.from('waits') });
  expect(await log.append(batch)).toBe('unknown');
  expect(await readTexts(log)).toEqual(['before']);

  expect(database.terminateWaiting()).toBe(1);

  expect(await readTexts(log)).toEqual(['before', 'waits']);
  expect(await log.append(batch)).toBe('unknown');
  database.freeReplica();
  let last = await log.append(batch);
  while (last === 'unknown') last = await log.append(batch);
  expect(last).toBe('duplicate');
  await log.close();
});

test('a failover takes back what only the primary had', async () => {
  const { database, address } = openModel();
  const log = await PostgresLog.open({ address, silenceMs: SILENCE_MS });
  const hold = await appendTexts(log, await log.acquire(), ['before']);
  database.stickReplica();
  await log.append(batchAfter(hold, { bytes: Buffer.from('lost') }));
  database.terminateWaiting();

  database.failOver();
  database.isDown = false;

  expect(await readTexts(log)).toEqual(['before']);
  await log.close();
});

test('a copy of a batch that waits for another one is lost with the primary, too', async () => {
  const { database, address } = openModel();
  const log = await PostgresLog.open({ address, silenceMs: SILENCE_MS });
  const hold = await appendTexts(log, await log.acquire(), ['before']);
  database.stickReplica();
  const batch = batchAfter(hold, { bytes: Buffer.from('lost') });
  expect([await log.append(batch), await log.append(batch)]).toEqual(['unknown', 'unknown']);

  database.failOver();
  database.isDown = false;

  expect(await readTexts(log)).toEqual(['before']);
  await log.close();
});

test('a claim waits for an append that waits for the replica', async () => {
  const { database, address } = openModel();
  const log = await PostgresLog.open({ address, silenceMs: SILENCE_MS });
  const rival = await PostgresLog.open({ address });
  const hold = await log.acquire();
  database.stickReplica();
  await log.append(batchAfter(hold, { bytes: Buffer.from('first') }));
  const claiming = rival.acquire();

  database.freeReplica();

  expect(await claiming).toMatchObject({ tail: 1 });
  await log.close();
  await rival.close();
});
