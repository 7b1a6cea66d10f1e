import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event, PayloadRange } from './event.ts';
import { EventDecoder, encodeEvent, UnknownEventError } from './event-codec.ts';
import { InvariantError } from './invariant.ts';
import { makeEvents } from './make-events.ts';
import { RecordReader } from './record-reader.ts';
import { RecordWriter } from './record-writer.ts';
import { decodeBatch, plainEvent } from './testing/decode-batch.ts';
import { testUtf8 } from './testing/test-utf8.ts';

const EDGES = [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 53 - 1];

const numbers = fc.oneof(fc.maxSafeNat(), fc.constantFrom(...EDGES));
const bytes = fc.nat(255);
const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'transcode', '\u{1f600}', 'é\0ü'),
);
/** Has bytes around it that must not be taken along. */
const payloads: fc.Arbitrary<PayloadRange> = fc
  .tuple(fc.uint8Array({ maxLength: 150 }), fc.nat(150), fc.nat(150))
  .map(([content, a, b]) => {
    const [start, end] = [a, b].map((n) => Math.min(n, content.length)).toSorted((x, y) => x - y);
    return { bytes: content, start, end };
  });

/** A claim is its window and eight words; without a window there are none. */
const claims = fc
  .tuple(fc.nat(1000), fc.uint32Array({ minLength: 8, maxLength: 8 }))
  .map(([windowMs, words]) => ({
    windowMs,
    start: 0,
    words: windowMs === 0 ? new Uint32Array(8) : words,
  }));

const task = { slot: numbers, task: numbers };

const details = {
  ...task,
  taskType: names,
  priority: bytes,
  shape: names,
  retry: names,
  timeouts: names,
  tags: names,
  callback: names,
  parent: names,
  input: payloads,
};

const events = fc.oneof(
  fc.record({
    type: fc.constant('task_submitted'),
    ...details,
    runAt: numbers,
    dedupe: claims,
  }),
  fc.record({
    type: fc.constant('task_readmitted'),
    ...details,
    submittedAt: numbers,
    dedupe: numbers,
  }),
  fc.record({
    type: fc.constant('task_ended'),
    ...task,
    startedAt: numbers,
    state: bytes,
    reason: bytes,
    answer: bytes,
    key: numbers,
    hasPayload: fc.boolean(),
    payload: payloads,
  }),
  fc.record({
    type: fc.constant('task_patched'),
    ...task,
    fields: bytes,
    priority: bytes,
    runAt: numbers,
    timeouts: names,
    tags: names,
    input: payloads,
  }),
  fc.record({ type: fc.constant('task_paused'), ...task }),
  fc.record({ type: fc.constant('task_resumed'), ...task }),
  fc.record({ type: fc.constant('task_retried'), ...task, redrive: numbers }),
  fc.record({ type: fc.constant('dead_letter_dropped'), ...task, isOverflow: fc.boolean() }),
  fc.record({
    type: fc.constant('queue_changed'),
    ...task,
    taskType: names,
    paused: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('task_type_changed'),
    ...task,
    taskType: names,
    definition: names,
  }),
  fc.record({
    type: fc.constant('redrive_started'),
    ...task,
    redrive: numbers,
    namespace: names,
    taskType: names,
    ratePer1000Sec: numbers,
  }),
  fc.record({ type: fc.constant('redrive_ended'), ...task, redrive: numbers }),
  fc.record({ type: fc.constant('leases_skipped'), ...task, next: numbers }),
  fc.record({
    type: fc.constant('access_key_created'),
    ...task,
    key: names,
    namespace: names,
    role: names,
    name: names,
    hash: names,
    expiresAt: numbers,
  }),
  fc.record({
    type: fc.constant('access_key_expiry_set'),
    ...task,
    key: names,
    expiresAt: numbers,
  }),
  fc.record({ type: fc.constant('access_key_revoked'), ...task, key: names }),
  fc.record({
    type: fc.constant('callback_delivered'),
    ...task,
    delivery: numbers,
    state: bytes,
    status: numbers,
    durationMs: numbers,
  }),
  fc.record({
    type: fc.constant('callback_failed'),
    ...task,
    delivery: numbers,
    state: bytes,
    status: numbers,
    durationMs: numbers,
    failure: bytes,
    nextAt: numbers,
  }),
  fc.record({
    type: fc.constantFrom('callback_redelivered', 'callback_dropped'),
    ...task,
    delivery: numbers,
    state: bytes,
  }),
  fc.record({
    type: fc.constant('audit_recorded'),
    ...task,
    namespace: names,
    actor: names,
    address: names,
    request: names,
    action: names,
    subject: names,
    detail: names,
  }),
  fc.record({ type: fc.constant('attempt_deferred'), ...task, startedAt: numbers }),
  fc.record({
    type: fc.constant('attempt_stopping'),
    ...task,
    reason: bytes,
    stopAt: numbers,
  }),
  fc.record({
    type: fc.constant('attempt_timed_out'),
    ...task,
    startedAt: numbers,
    reason: bytes,
    answer: bytes,
    retryAt: numbers,
    error: payloads,
  }),
  fc.record({
    type: fc.constant('attempt_leased'),
    ...task,
    lease: numbers,
    session: names,
    worker: names,
    leaseMs: numbers,
    resume: numbers,
  }),
  fc.record({ type: fc.constant('attempt_started'), ...task }),
  fc.record({
    type: fc.constant('attempt_succeeded'),
    ...task,
    startedAt: numbers,
    output: payloads,
  }),
  fc.record({ type: fc.constant('task_due'), ...task }),
  fc.record({ type: fc.constant('dedupe_forgotten'), ...task }),
  fc.record({
    type: fc.constant('attempt_failed'),
    ...task,
    startedAt: numbers,
    answer: bytes,
    retryAt: numbers,
    error: payloads,
  }),
  fc.record({ type: fc.constant('attempt_returned'), ...task, reason: bytes, spent: fc.boolean() }),
  fc.record({ type: fc.constant('attempts_exhausted'), ...task, reason: bytes }),
  fc.record({ type: fc.constant('task_forgotten'), ...task }),
  fc.record({ type: fc.constant('state_hashed'), ...task, schema: numbers, hash: numbers }),
) as unknown as fc.Arbitrary<Event>;

const records = fc.record({
  at: numbers,
  events: fc.array(events, { minLength: 1, maxLength: 8 }),
});

test('the property below makes every type of event', () => {
  const made = new Set(fc.sample(events, { numRuns: 500, seed: 1 }).map((event) => event.type));

  expect([...made].toSorted()).toEqual(
    Object.values(makeEvents())
      .map((event) => event.type)
      .toSorted(),
  );
});

test('every event of every record comes back as it was written', () => {
  fc.assert(
    fc.property(fc.array(records, { maxLength: 6 }), (list) => {
      const writer = new RecordWriter(testUtf8);

      for (const record of list) write(writer, record);

      expect(decodeBatch(written(writer))).toEqual(plain(list));
      expect(writer.recordCount).toBe(list.length);
    }),
  );
});

test('a batch decodes alone: what an earlier batch named is spelled out again (W1)', () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 2, maxLength: 4 }), (list) => {
      const writer = new RecordWriter(testUtf8);
      write(writer, list[0]);

      for (const record of list) {
        writer.reset();
        write(writer, record);

        expect(decodeBatch(written(writer))).toEqual(plain([record]));
      }
    }),
  );
});

test('a name costs its length once per batch', () => {
  const writer = new RecordWriter(testUtf8);
  const event = { ...makeEvents().taskSubmitted, taskType: 'x'.repeat(100) };

  write(writer, { at: 1, events: [event] });
  const first = writer.length;
  write(writer, { at: 1, events: [event] });

  expect(first).toBeGreaterThan(100);
  expect(writer.length - first).toBeLessThan(25);
});

test('payloads and names of any size fit, however often the buffer has to grow', () => {
  const writer = new RecordWriter(testUtf8);
  const initial = writer.bytes.length;
  const payload = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
  const list = Array.from({ length: 10 }, (_, n) => ({
    at: n,
    events: [
      {
        ...makeEvents().taskSubmitted,
        taskType: `${n}${'é'.repeat(40_000)}`,
        input: { bytes: payload, start: n, end: payload.length - n },
      },
      makeEvents().attemptStarted,
    ],
  }));

  for (const record of list) write(writer, record);

  const decoded = decodeBatch(written(writer));
  expect(writer.bytes.length).toBeGreaterThan(initial);
  expect(decoded.map((record) => record.at)).toEqual(list.map((record) => record.at));
  decoded.forEach(({ events: [submitted] }, n) => {
    expect(submitted).toEqual(plainEvent(list[n].events[0]));
  });
});

test('events that end exactly at the end of the buffer are followed by others', () => {
  const payload = new Uint8Array(2 ** 20);
  for (let spare = 0; spare < 100; spare++) {
    const writer = new RecordWriter(testUtf8);
    const input = { bytes: payload, start: 0, end: writer.bytes.length - 100 - spare };

    write(writer, { at: 2 ** 53 - 1, events: [{ ...makeEvents().taskSubmitted, input }] });
    write(writer, { at: 2 ** 53 - 1, events: [largestLease()] });

    const [, second] = decodeBatch(written(writer));
    expect(second.events).toEqual([plainEvent(largestLease())]);
  }
});

test('a record without events leaves no trace (W2)', () => {
  fc.assert(
    fc.property(records, records, numbers, (before, after, at) => {
      const plainWriter = new RecordWriter(testUtf8);
      const writer = new RecordWriter(testUtf8);
      for (const record of [before, after]) write(plainWriter, record);

      write(writer, before);
      write(writer, { at, events: [] });
      write(writer, after);
      write(writer, { at, events: [] });

      expect(written(writer)).toEqual(written(plainWriter));
      expect(writer.recordCount).toBe(2);
    }),
  );
});

test('an event of an unknown type or version stops the reader', () => {
  for (const [type, version] of [
    [0, 1],
    [29, 1],
    [255, 1],
    [1, 0],
    [1, 2],
  ]) {
    const writer = new RecordWriter(testUtf8);
    writer.beginRecord(1);
    writer.beginEvent(type, version);
    writer.endRecord();

    const reader = new RecordReader(written(writer), testUtf8);
    reader.beginRecord();

    expect(() => new EventDecoder().next(reader)).toThrow(UnknownEventError);
  }
});

test('a batch that was cut short breaks an invariant or lacks whole records', () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 1, maxLength: 3 }), fc.nat(), (list, cut) => {
      const writer = new RecordWriter(testUtf8);
      for (const record of list) write(writer, record);
      const batch = written(writer);

      const shorter = batch.subarray(0, cut % batch.length);

      const decoded = attempt(() => decodeBatch(shorter));
      if (Array.isArray(decoded)) expect(decoded).toEqual(plain(list).slice(0, decoded.length));
      else expect(decoded).toBeInstanceOf(InvariantError);
    }),
  );
});

interface TestRecord {
  readonly at: number;
  readonly events: readonly Event[];
}

function write(writer: RecordWriter, record: TestRecord): void {
  writer.beginRecord(record.at);
  for (const event of record.events) encodeEvent(writer, event);
  writer.endRecord();
}

function written(writer: RecordWriter): Uint8Array {
  return writer.bytes.slice(0, writer.length);
}

function plain(list: readonly TestRecord[]) {
  return list.map(({ at, events: each }) => ({ at, events: each.map(plainEvent) }));
}

function largestLease(): Event {
  const max = 2 ** 53 - 1;
  const event = makeEvents().attemptLeased;
  return Object.assign(event, {
    slot: max,
    task: max,
    lease: max,
    leaseMs: max,
    resume: max,
  });
}

function attempt<T>(act: () => T): T | unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}
