import { DEFAULT_NAMESPACE, Partition, RecordWriter } from '@sluice/core';
import type { CommittedBatch, CommittedFeed } from '@sluice/engine';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UTF8 } from '../../packages/server/src/base/utf8.ts';
import {
  Projection,
  type ProjectionNotice,
} from '../../packages/server/src/projection/projection.ts';

const LIMITS = {
  tasksMax: 1000,
  payloadBytesMax: 1_000_000,
  finishedTasksMax: 1000,
  deadLettersMax: 1000,
  callbacksMax: 1000,
  dedupeKeysMax: 1000,
  sessionsMax: 10,
  unsentBytesMax: 1_000_000,
};
const EVERYTHING = {
  query: { namespace: DEFAULT_NAMESPACE, before: 1e9, from: 0, limit: 10 },
  times: { since: 0, until: Number.POSITIVE_INFINITY },
  charactersMax: 1e6,
};

let store: TempStore;
let notices: ProjectionNotice[];

beforeEach(async () => {
  store = await TempStore.create();
  notices = [];
});

afterEach(() => store.dispose());

function start(): Promise<Projection> {
  return Projection.start({
    folder: '',
    store: store.address,
    retention: { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY },
    openMsMax: 0,
    notify: (notice) => notices.push(notice),
  });
}

/** The log of a partition to which tasks of these types were submitted, one batch each. */
function batchesOf(types: readonly string[]): CommittedBatch[] {
  const partition = new Partition({ partition: 0, limits: LIMITS, utf8: UTF8 });
  return types.map((type, firstRecord) => {
    const writer = new RecordWriter(UTF8);
    const now = Date.now() - 60_000;
    const tasks = [{ type }];
    const inputs = new Uint8Array(0);
    const namespace = DEFAULT_NAMESPACE;
    partition.execute(
      { type: 'submit_tasks', namespace, tasks, inputs, inputEnds: [0], now },
      writer,
    );
    return { firstRecord, recordCount: 1, bytes: writer.bytes.slice(0, writer.length) };
  });
}

/** A feed with these batches and no more. */
function feedOf(batches: CommittedBatch[]): CommittedFeed {
  const feed = {
    next: async () => batches.shift() ?? new Promise<never>(() => undefined),
    take: () => batches.shift(),
    acknowledge: () => undefined,
    consumerEnded: () => undefined,
    letGo: () => undefined,
    get isEmpty() {
      return batches.length === 0;
    },
  };
  return feed as unknown as CommittedFeed;
}

async function typesFound(projection: Projection, fresh: number): Promise<string[]> {
  const { items } = await projection.find(EVERYTHING, fresh);
  return items.map((item) => (JSON.parse(item) as { type: string }).type);
}

async function savedPosition(): Promise<number | undefined> {
  const { rows } = await store.query<{ position: number }>(
    'SELECT position::int AS position FROM $schema.mark',
  );
  return rows.at(0)?.position;
}

test('rows are in the database, and the next thread goes on behind its mark', async () => {
  const batches = batchesOf(['a', 'b', 'c']);
  const first = await start();
  first.follow(feedOf(batches.slice(0, 2)), 2);
  expect(await typesFound(first, 2)).toEqual(['b', 'a']);
  await first.close();
  expect(await savedPosition()).toBe(2);

  const second = await start();
  expect(second.feedOptions.from).toBe(2);
  second.follow(feedOf(batches.slice(2)), 3);

  expect(await typesFound(second, 3)).toEqual(['c', 'b', 'a']);
  await second.close();
  expect(notices).toEqual([]);
});

test('a database that refuses rows is said, and they are written when it takes them', async () => {
  const projection = await start();
  await store.query('ALTER TABLE $schema.mark RENAME TO mark_away');
  projection.follow(feedOf(batchesOf(['a'])), 1);
  await vi.waitUntil(() => notices.some(({ type }) => type === 'projection_failing'), {
    timeout: 20_000,
  });

  await store.query('ALTER TABLE $schema.mark_away RENAME TO mark');

  await vi.waitFor(async () => expect(await savedPosition()).toBe(1), { timeout: 20_000 });
  expect(notices).toContainEqual({ type: 'projection_recovered' });
  await projection.close();
});
