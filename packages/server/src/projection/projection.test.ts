import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_NAMESPACE, Partition, RecordWriter } from '@sluice/core';
import type { CommittedBatch, CommittedFeed } from '@sluice/engine';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { UTF8 } from '../base/utf8.ts';
import { Projection, type ProjectionNotice } from './projection.ts';

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

let folder: string;
let notices: ProjectionNotice[];
let projection: Projection;
/** What the feed no longer keeps for the projection. */
let ended: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-projection-'));
  notices = [];
  ended = [];
  projection = await Projection.start({
    folder,
    retention: { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY },
    notify: (notice) => notices.push(notice),
    logHeldMs: 1,
  });
});

afterEach(async () => {
  await projection.close();
  rmSync(folder, { recursive: true });
});

/** The log of a partition to which tasks of these types were submitted, one batch each. */
function batchesOf(types: readonly string[]): CommittedBatch[] {
  const partition = new Partition({ partition: 0, limits: LIMITS, utf8: UTF8 });
  return types.map((type, firstRecord) => {
    const writer = new RecordWriter(UTF8);
    partition.execute(
      {
        type: 'submit_tasks',
        namespace: DEFAULT_NAMESPACE,
        tasks: [{ type }],
        inputs: new Uint8Array(0),
        inputEnds: [0],
        now: 1_900_000_000_000,
      },
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
    consumerEnded: () => ended.push('memory'),
    letGo: () => ended.push('log'),
    get isEmpty() {
      return batches.length === 0;
    },
  };
  return feed as unknown as CommittedFeed;
}

const EVERYTHING = {
  query: { namespace: DEFAULT_NAMESPACE, before: 1e9, from: 0, limit: 10 },
  times: { since: 0, until: Number.POSITIVE_INFINITY },
  charactersMax: 1e6,
};

test('what the log does not have any more is said, and all after it is found', async () => {
  const batches = batchesOf(['lost', 'kept', 'kept']);
  projection.feedOptions.onLost?.(1);
  projection.follow(feedOf(batches.slice(1)), 3);

  const found = await projection.find(EVERYTHING, 3);

  expect(notices).toEqual([{ type: 'projection_gap', from: 0, to: 1 }]);
  const types = found.items.map((item) => (JSON.parse(item) as { type: string }).type);
  expect(types).toEqual(['kept', 'kept']);
  expect(projection.status(3, 0)).toMatchObject({ state: 'ok', position: 3, lagRecords: 0 });
});

test('after a rest the time since the last record is no lag', async () => {
  projection.follow(feedOf(batchesOf(['a'])), 1);
  await projection.find(EVERYTHING, 1);

  // One record was committed a moment ago.
  const muchLater = 1_900_000_000_000 + 3_600_000;
  expect(projection.status(2, muchLater)).toMatchObject({ lagRecords: 1, lagMs: 0 });
});

test('a thread that ends is said, and whoever asks it hears why', async () => {
  projection.follow(feedOf(batchesOf(['a', 'b']).slice(1)), 2);

  await expect(projection.find(EVERYTHING, 2)).rejects.toThrow('record 1 comes, and 0 is due');
  expect(projection.status(2, 0)).toMatchObject({
    state: 'ended',
    why: 'record 1 comes, and 0 is due',
    lagRecords: 2,
  });
  expect(notices).toMatchObject([{ type: 'projection_ended' }]);
});

test('neither memory nor, after a while, the log is kept for a thread that ended', async () => {
  projection.follow(feedOf(batchesOf(['a', 'b']).slice(1)), 2);

  await vi.waitUntil(() => ended.length === 2);

  expect(ended).toEqual(['memory', 'log']);
  expect(notices).toMatchObject([{ type: 'projection_ended' }, { type: 'projection_given_up' }]);
});

test('a batch that cannot be read is left out and named, and the next one is taken', async () => {
  const [first, second, third] = batchesOf(['a', 'b', 'c']);
  projection.follow(feedOf([first, { ...second, bytes: Buffer.from('garbage') }, third]), 3);

  const found = await projection.find(EVERYTHING, 3);

  const types = found.items.map((item) => (JSON.parse(item) as { type: string }).type);
  expect(types).toEqual(['c', 'a']);
  expect(notices).toMatchObject([{ type: 'event_left_out', record: 1 }]);
  expect(projection.status(3, 0)).toMatchObject({ state: 'ok', lagRecords: 0 });
});
