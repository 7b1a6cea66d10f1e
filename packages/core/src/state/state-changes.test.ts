import { beforeEach, expect, test } from 'vitest';
import { encodeEvent } from '../events/event-codec.ts';
import { RecordWriter } from '../events/record-writer.ts';
import { Partition } from '../partition.ts';
import { type Column, columnsOf } from '../structures/columns.ts';
import { decodeBatch } from '../testing/decode-batch.ts';
import { TestPartition } from '../testing/test-partition.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { taskPayloads } from './payload-columns.ts';
import type { State } from './state.ts';

/** Never reached, so that the next hash covers everything. */
const NEVER = 1_000_000;
const KEY = { key: 3, input: 1, windowMs: 60_000 };

let partition: TestPartition;
let state: State;

/** A waiting, a queued, a leased, a finished and a forgotten task, with keys and without. */
beforeEach(() => {
  partition = new TestPartition({ finishedTasksMax: 1 }, { hashEvery: NEVER });
  state = partition.state as unknown as State;
  const { session } = partition.attach({ slots: 3 });
  partition.submit({ dedupe: KEY, input: '1' }, { input: '2' }, { delayMs: 9 }, {});
  partition.submit({ dedupe: { ...KEY, key: 4 }, type: 'other' });
  for (const lease of partition.leasesOf(session).slice(0, 2)) {
    partition.report(session, { lease, kind: 'succeeded', payload: '"done"' });
  }
});

test('a flip in any column of any slot that was touched changes the hash', () => {
  const references = taskPayloads(state.tasks).map((each) => each.references);
  const missed: string[] = [];
  let flips = 0;
  const before = state.hashChanges();
  for (const table of [state.tasks, state.dedupe]) {
    for (const [name, column] of columnsOf(table)) {
      if (references.includes(column as Float64Array)) continue;
      const perSlot = column.length / table.capacity;
      for (let at = 0; at < usedOf(state, table) * perSlot; at++) {
        flipBit(column, at);
        if (state.hashChanges() === before) missed.push(`${name}[${at}]`);
        flipBit(column, at);
        flips += 1;
      }
    }
  }

  expect(missed).toEqual([]);
  expect(flips).toBeGreaterThan(100);
  expect(state.hashChanges()).toBe(before);
});

test.each(['nextTask', 'nextLease', 'now'] as const)('a changed %s changes the hash', (name) => {
  const before = state.hashChanges();

  state[name] = (state[name] + 1) as never;

  expect(state.hashChanges()).not.toBe(before);
});

test('where payloads lie does not change the hash', () => {
  const before = state.hashChanges();

  for (const { references } of taskPayloads(state.tasks)) references.fill(12);

  expect(state.hashChanges()).toBe(before);
});

test('when timers were asked for does not change the hash', () => {
  const before = state.hashChanges();

  state.timers.firstDue(partition.now + 1);

  expect(state.hashChanges()).toBe(before);
});

test('after so many events a hash is logged, and covers only what came since the last', () => {
  const hashed = new TestPartition({}, { hashEvery: 3 });
  hashed.submit({}, {}, {}, {}, {}, {}, {});

  const [{ events }] = hashed.log().flatMap(decodeBatch);
  const types = events.map((event) => event.type);

  expect(types.join()).toBe([...logged(3), ...logged(3), 'task_submitted'].join());
});

function logged(events: number): string[] {
  return [...Array.from({ length: events }, () => 'task_submitted'), 'state_hashed'];
}

test('a replay that leads to another state than the log says stops, with the record', () => {
  const writer = new RecordWriter(testUtf8);
  const options = { partition: 0, limits: partition.limits, utf8: testUtf8, hashEvery: 3 };
  const lived = new Partition(options);
  const submit = () =>
    lived.execute(
      {
        type: 'submit_tasks',
        namespace: 'default',
        now: 5,
        tasks: [{ type: 'hello' }],
        inputs: new Uint8Array(0),
        inputEnds: [0],
      },
      writer,
    );
  submit();
  submit();
  const two = writer.bytes.slice(0, writer.length);
  writer.reset();
  submit();
  const third = writer.bytes.slice(0, writer.length);

  const replayed = new Partition(options);
  replayed.replay(two, 40);
  (replayed.state as unknown as State).tasks.priority[0] += 1;

  expect(() => replayed.replay(third, 42)).toThrow(
    expect.objectContaining({ name: 'StateHashError', record: 42 }),
  );
});

test('a hash that was made under another schema is passed over', () => {
  const event = { type: 'state_hashed', slot: 0, task: 0, schema: 999, hash: 1 } as const;
  const writer = new RecordWriter(testUtf8);
  writer.beginRecord(1);
  encodeEvent(writer, event as never);
  writer.endRecord();
  const replayed = partition.replayed();

  replayed.replay(writer.bytes.slice(0, writer.length), 0);

  expect((replayed.state as unknown as State).changes.events).toBe(0);
});

function usedOf(of: State, table: State['tasks'] | State['dedupe']): number {
  return table === of.tasks ? of.tasks.used : of.dedupe.count;
}

/** Flips the lowest bit, which every kind of column has. */
function flipBit(column: Column, at: number): void {
  const { buffer, BYTES_PER_ELEMENT } = column;
  new Uint8Array(buffer)[at * BYTES_PER_ELEMENT] ^= 1;
}
