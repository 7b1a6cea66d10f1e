import { beforeEach, expect, test } from 'vitest';
import { blobReference } from '../base/blob-reference.ts';
import type { SessionId } from '../base/ids.ts';
import { LimitError } from '../base/limit-error.ts';
import { Partition, type StateSnapshot } from '../partition.ts';
import { SnapshotError } from '../snapshot/snapshot-archive.ts';
import { StateHashError } from '../snapshot/state-hash.ts';
import { ColumnTable, columnsOf } from '../structures/columns.ts';
import { describeState } from '../testing/describe-state.ts';
import { snapshotOf, TestPartition } from '../testing/test-partition.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { SECTIONS } from './persist-state.ts';
import { State } from './state.ts';

/** Parts that are not saved, because they come from the start options. */
const DERIVED = ['partition', 'limits'];
/** Parts that share the section of the counters. */
const COUNTERS = ['nextTask', 'nextLease', 'nextTailOrder', 'nextHeadOrder', 'now'];

let lived: TestPartition;

/** A bit of everything, with free places in between: tasks of all states, keys, sessions, texts. */
beforeEach(() => {
  lived = new TestPartition({ finishedTasksMax: 2 });
  const gone = lived.attach({ types: ['other'], worker: 'gone' });
  lived.submit({ type: 'other', retry: { delaysMs: [5], jitter: false } });
  finish(gone.session);
  lived.detach(gone.session);
  const { session } = lived.attach({ slots: 3 });
  lived.submit({ input: '"first"' }, { input: '2', priority: 7 }, { dedupe: KEY }, {});
  lived.submit({ input: blobReference('c0ffee') });
  lived.submit({ type: 'other', retry: { maxAttempts: 9 } }, { delayMs: 5000 });
  finish(session);
  lived.submit({ priority: 0 }, { priority: 8 }, { type: 'third', input: 'x'.repeat(900) });
  lived.submit({ resources: { cpu: 2 } }, { constraints: ['exists ssd'], priority: 8 });
});

function finish(session: SessionId): void {
  for (const lease of lived.leasesOf(session)) {
    lived.report(session, { lease, kind: 'succeeded', payload: '"done"' });
  }
}

const KEY = { key: 3, input: 1, windowMs: 60_000 };

function empty(limits = lived.limits, partition = 0): Partition {
  return new Partition({ partition, limits, utf8: testUtf8 });
}

test('every part of the state is in a snapshot', () => {
  const parts = Object.keys(new State(0, lived.limits));

  const saved = [...Object.keys(SECTIONS), ...COUNTERS, ...DERIVED];

  expect(saved.toSorted()).toEqual([...parts, 'counters'].toSorted());
});

test('every column but the places of payloads is in a snapshot', () => {
  const { pieces } = snapshotOf(lived.replayed());
  const text = textOf(joined(pieces));
  const state = lived.state as unknown as State;
  const tables = Object.values(state).filter((part) => part instanceof ColumnTable);
  const names = tables.flatMap((table) => [...columnsOf(table).keys()]);

  const missing = names.filter((name) => !text.includes(`@${name}`));

  expect(tables).toHaveLength(2);
  expect(missing).toEqual([]);
});

test('a state that is saved and loaded is the same', () => {
  const loaded = empty();
  loaded.load(snapshotOf(lived.replayed()));

  expect(describeState(loaded.state)).toEqual(describeState(lived.state));
  expect(loaded.hashState()).toBe(lived.hashState());
  expect(snapshotOf(loaded)).toEqual(snapshotOf(lived.replayed()));
});

test('what happens after a snapshot lands in the same slots, entries and numbers', () => {
  lived.snapshot();
  const { session } = lived.attach({ types: ['hello', 'other', 'third'], slots: 9 });
  lived.submit({ dedupe: { ...KEY, key: 4 } }, { retry: { delaysMs: [7, 8], jitter: true } });
  for (const lease of lived.leasesOf(session)) lived.report(session, { lease, kind: 'failed' });
  lived.now += 100_000;
  lived.advance();

  const restored = lived.restored();

  expect(describeState(restored.state)).toEqual(describeState(lived.state));
  expect(restored.hashState()).toBe(lived.hashState());
});

test('a snapshot takes as much room as the slots that were used, in bounded pieces', () => {
  const limits = { ...lived.limits, payloadBytesMax: 2 ** 20, arenaChunkBytes: 2 ** 20 };
  const wide = new TestPartition({ ...limits, tasksMax: 1_000_000 });
  wide.submit({ input: 'y'.repeat(600_000) });

  const { pieces } = snapshotOf(wide.replayed());

  expect(joined(pieces).length).toBeLessThan(615_000);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBe(2 ** 18);
});

test.each([
  ['another schema', (snapshot: StateSnapshot) => ({ ...snapshot, schema: 99 }), /schema is 99/],
  ['another section', renamed('holders', 'helpers'), /section 'helpers' where .* 'holders'/],
  ['another column', renamed('startedAt', 'startedOn'), /'tasks.startedOn' where .*startedAt'/],
  ['another kind of column', renamed('Uint16Array', 'Int16ArrayX'), /a Int16ArrayX, not a Uint16/],
  ['too little', (snapshot: StateSnapshot) => ({ ...snapshot, pieces: [] }), /before it is compl/],
])('a snapshot with %s is refused by name', (_, change, message) => {
  const snapshot = snapshotOf(lived.replayed());

  expect(() => empty().load(change(snapshot))).toThrow(SnapshotError);
  expect(() => empty().load(change(snapshot))).toThrow(message);
});

test.each([
  ['tasksMax', 3],
  ['dedupeKeysMax', 1],
] as const)('a snapshot with more than %s is refused by the name of that limit', (limit, max) => {
  lived.submit({ dedupe: { ...KEY, key: 4 } });
  const snapshot = snapshotOf(lived.replayed());

  const load = () => empty({ ...lived.limits, [limit]: max }).load(snapshot);

  expect(load).toThrow(LimitError);
  expect(load).toThrow(`the limit ${limit} (${max})`);
});

test('a snapshot of another partition is refused', () => {
  const snapshot = snapshotOf(lived.replayed());

  expect(() => empty(lived.limits, 7).load(snapshot)).toThrow(/of partition 0, not of 7/);
});

/** Every third byte: all of them took a minute. Three and eight meet all bits of neighbours. */
const FLIP_EVERY = 3;

test('a flipped bit in a snapshot is noticed, unless the state is the same without it', () => {
  const { pieces, ...snapshot } = snapshotOf(lived.replayed());
  const bytes = joined(pieces);
  const accepted: Uint8Array[] = [];

  for (let at = 0; at < bytes.length; at += FLIP_EVERY) {
    const flipped = bytes.slice();
    flipped[at] ^= 1 << (at & 7);
    const loaded = empty();
    try {
      loaded.load({ ...snapshot, pieces: [flipped] });
      accepted.push(joined(snapshotOf(loaded).pieces));
    } catch {
      // The damage was found; it does not matter by which check.
    }
  }

  expect(accepted.filter((saved) => !isSame(saved, bytes))).toEqual([]);
  expect(accepted.length).toBeLessThan(bytes.length / FLIP_EVERY / 100);
});

test('a snapshot whose hash is another is refused', () => {
  const snapshot = snapshotOf(lived.replayed());

  expect(() => empty().load({ ...snapshot, hash: snapshot.hash + 1 })).toThrow(StateHashError);
});

function renamed(from: string, to: string) {
  return (snapshot: StateSnapshot): StateSnapshot => {
    const bytes = joined([...snapshot.pieces]);
    const at = textOf(bytes).indexOf(from);
    bytes.set(testUtf8.encode(to), at);
    return { ...snapshot, pieces: [bytes] };
  };
}

/** One character per byte. */
function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
