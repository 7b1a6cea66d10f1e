import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobReference } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BLOB_KEPT_MS, BlobStore } from './blob-store.ts';
import { BlobSweep } from './blob-sweep.ts';

const HOUR_MS = 3_600_000;

let folder: string;
let now: number;
let store: BlobStore;
let tasks: TestPartition;
/** Blobs that rows of the projection name. */
let rows: Set<string>;
/** Runs while the projection is queried. */
let meanwhile: () => Promise<void>;
let sweep: BlobSweep;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-sweep-'));
  now = Date.now();
  store = await BlobStore.open({
    folder: join(folder, 'blobs'),
    clock: () => now,
    onDamaged: () => undefined,
    reserveBytes: 0,
  });
  tasks = new TestPartition();
  rows = new Set();
  meanwhile = async () => undefined;
  sweep = new BlobSweep({
    blobs: store,
    engine: { read: async (look) => look(tasks.state, undefined as never) },
    projection: {
      named: async (blobs) => {
        const named = blobs.filter((blob) => rows.has(blob));
        await meanwhile();
        return named;
      },
    },
    onFailed: (cause) => expect.fail(cause.message),
  });
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function put(text: string): Promise<string> {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const body = (async function* () {
    yield Buffer.from(text);
  })();
  await store.put({ namespace: 'default', sha256 }, body, -1);
  return sha256;
}

async function isThere(sha256: string): Promise<boolean> {
  const found = await store.get({ namespace: 'default', sha256 });
  found?.body.destroy();
  return found !== undefined;
}

function submitNaming(sha256: string): void {
  tasks.submit({ input: blobReference(sha256) });
}

/** Long enough for an unnamed blob to be removed. */
async function aDayPasses(): Promise<void> {
  for (let hour = 0; hour <= BLOB_KEPT_MS / HOUR_MS; hour++) {
    now += HOUR_MS;
    await sweep.sweep();
  }
}

test('what no task names goes after a day, and what one names stays', async () => {
  const [unnamed, input, output, row] = await Promise.all(['1', '2', '3', '4'].map(put));
  submitNaming(input);
  const { session } = tasks.attach({ slots: 9 });
  tasks.submit({});
  const [, lease] = tasks.leasesOf(session);
  tasks.report(session, { lease, kind: 'succeeded', payload: blobReference(output) });
  rows.add(`default/${row}`);

  await aDayPasses();

  const left = await Promise.all([unnamed, input, output, row].map(isThere));
  expect(left).toEqual([false, true, true, true]);
  expect(store.totals).toEqual({ count: 3, bytes: 3 });
});

test('the same blob of another namespace does not keep it', async () => {
  const sha256 = await put('1');
  rows.add(`shop/${sha256}`);

  await aDayPasses();

  expect(await isThere(sha256)).toBe(false);
});

test('the day begins when the last task that named it is gone', async () => {
  const sha256 = await put('1');
  rows.add(`default/${sha256}`);
  await aDayPasses();
  rows.clear();

  now += BLOB_KEPT_MS - 1000;
  await sweep.sweep();
  expect(await isThere(sha256)).toBe(true);
  now += 2000;
  await sweep.sweep();

  expect(await isThere(sha256)).toBe(false);
});

test('a task that leaves memory for its row while one looks keeps its blob', async () => {
  const sha256 = await put('1');
  now += BLOB_KEPT_MS + HOUR_MS;
  // The task is in memory when memory is scanned, and in a row when the rows are queried.
  submitNaming(sha256);
  meanwhile = async () => {
    tasks = new TestPartition();
  };

  await sweep.sweep();

  expect(await isThere(sha256)).toBe(true);
});

test('a submit that comes while the sweep has made up its mind has its blob', async () => {
  const sha256 = await put('1');
  now += BLOB_KEPT_MS + HOUR_MS;
  let isMissing: boolean | undefined;
  meanwhile = async () => {
    const { missing, release } = await store.hold('default', [sha256]);
    isMissing = missing.has(sha256);
    submitNaming(sha256);
    release();
  };

  await sweep.sweep();

  expect(isMissing).toBe(false);
  expect(await isThere(sha256)).toBe(true);
});

test('nothing is removed while the projection does not answer', async () => {
  const sha256 = await put('1');
  now += BLOB_KEPT_MS + HOUR_MS;
  meanwhile = () => Promise.reject(new Error('its thread ended'));

  await expect(sweep.sweep()).rejects.toThrow('its thread ended');

  expect(await isThere(sha256)).toBe(true);
});
