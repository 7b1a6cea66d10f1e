import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvariantError } from '../base/invariant.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { decodeBatch, plainEvent } from '../testing/decode-batch.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { EventDecoder, encodeByTable, encodeEvent, UnknownEventError } from './event-codec.ts';
import { EVENTS, type Event, type EventType } from './events.ts';
import type { EventDeclaration, FieldKind, Fields } from './fields.ts';
import { makeEvent, makeEvents } from './make-events.ts';
import { RecordReader } from './record-reader.ts';
import { RecordWriter } from './record-writer.ts';

const EDGES = [0, 1, 127, 128, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 53 - 1];

const numbers = fc.oneof(fc.maxSafeNat(), fc.constantFrom(...EDGES));
const bytes = fc.nat(255);
const names = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('', 'transcode', '\u{1f600}', 'é\0ü'),
);
/** The payload is surrounded by bytes that must not be encoded. */
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

const VALUES: Readonly<Record<FieldKind, fc.Arbitrary<unknown>>> = {
  number: numbers,
  byte: bytes,
  flag: fc.boolean(),
  text: names,
  sparse: names,
  payload: payloads,
  pieces: payloads,
  numbers: fc.array(numbers, { maxLength: 300 }),
  claim: claims,
};

const events = fc.oneof(
  ...Object.entries<EventDeclaration>(EVENTS).map(([type, { fields }]) => {
    const drawn = Object.entries(fields).map(([name, { kind }]) => [name, VALUES[kind]]);
    const about = { type: fc.constant(type), slot: numbers, task: numbers };
    return fc.record({ ...about, ...Object.fromEntries(drawn) });
  }),
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

test('no two events share a number', () => {
  const taken = Object.values(EVENTS).map((each) => each.number);

  expect(new Set(taken).size).toBe(taken.length);
});

test('events written out by hand have the bytes that the table gives them', () => {
  fc.assert(
    fc.property(fc.array(events, { maxLength: 8 }), (list) => {
      const [byHand, byTable] = [new RecordWriter(testUtf8), new RecordWriter(testUtf8)];
      for (const [writer, encode] of [
        [byHand, encodeEvent],
        [byTable, encodeByTable],
      ] as const) {
        writer.beginRecord(1);
        for (const event of list) encode(writer, event);
        writer.endRecord();
      }

      expect(written(byHand)).toEqual(written(byTable));
      const reader = new RecordReader(written(byHand), testUtf8);
      const decoder = new EventDecoder({ decodesHot: false });
      if (reader.hasRecord()) reader.beginRecord();
      for (const event of list) expect(plainEvent(decoder.next(reader))).toEqual(plainEvent(event));
    }),
  );
});

const NO_NUMBERS = [-1, -0.5, 0.5, 1.25, 2 ** 53, 1e300, Number.NaN, Number.POSITIVE_INFINITY];

test.each(
  Object.entries<EventDeclaration>(EVENTS).flatMap(([type, { fields }]) =>
    ['slot', 'task', ...namesOf(fields, ['number', 'byte'])].map((field) => [type, field] as const),
  ),
)('%s refuses to write what a reader would refuse in %s', (type, field) => {
  for (const value of NO_NUMBERS) {
    const event = { ...makeEvent(type as EventType), [field]: value } as Event;
    const writer = new RecordWriter(testUtf8);
    writer.beginRecord(1);

    expect(() => encodeEvent(writer, event)).toThrow(InvariantError);
    expect(() => encodeByTable(writer, event)).toThrow(InvariantError);
  }
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

test('names of an earlier batch are spelled out again (batch.decodes-alone)', () => {
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

test('a record without events leaves no trace (batch.no-empty-record)', () => {
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
    [31, 1],
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

function namesOf(fields: Fields, kinds: readonly FieldKind[]): string[] {
  return Object.keys(fields).filter((name) => kinds.includes(fields[name].kind));
}

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
