import { encodeEvent } from '../../packages/core/src/events/event-codec.ts';
import { EVENTS, type Event } from '../../packages/core/src/events/events.ts';
import type { Field, FieldKind } from '../../packages/core/src/events/fields.ts';
import { makeEvents } from '../../packages/core/src/events/make-events.ts';
import { RecordWriter } from '../../packages/core/src/events/record-writer.ts';
import type { PayloadRange } from '../../packages/core/src/structures/payload-range.ts';
import { decodeBatch, plainEvent } from '../../packages/core/src/testing/decode-batch.ts';
import { testUtf8 } from '../../packages/core/src/testing/test-utf8.ts';

/** An event as text, and as its bytes in a log. */
export interface GoldenEvent {
  readonly json: string;
  readonly hex: string;
}

/** Too large for four bytes, so that a field that became narrower shows. */
const LARGE = 2 ** 40;
const SMALL = 100;
const VERSION_OFFSET = 6;

/** For each event type, one event with empty fields and one with a value in every field. */
export function sampleEvents(): Event[] {
  const [plain, full] = [Object.values(makeEvents()), Object.values(makeEvents())];
  for (const event of full) fill(event);
  return [...plain, ...full];
}

export function goldenOf(event: Event): GoldenEvent {
  return { json: JSON.stringify(plainEvent(event), hexOfBytes), hex: hexOf(encoded(event)) };
}

/** Parses the text of an event. It has the fields that this version knows. */
export function parseEvent(json: string): Event {
  const said = JSON.parse(json) as Record<string, unknown>;
  const event = Object.values(makeEvents()).find(({ type }) => type === said.type);
  if (event === undefined) throw new Error(`no event has the type '${said.type}'`);
  const fields = event as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(said)) fields[name] = parseField(fields[name], value);
  return event;
}

/** Decodes the bytes of an event into text. */
export function decodedJson(hex: string): string {
  const [{ events }] = decodeBatch(Uint8Array.from(Buffer.from(hex, 'hex')));
  return JSON.stringify(events[0], hexOfBytes);
}

/** The file name for the type and version of an event. */
export function goldenName(event: Event): string {
  return `${event.type.replaceAll('_', '-')}-${encoded(event)[VERSION_OFFSET]}.txt`;
}

function fill(event: Event): void {
  const fields = event as unknown as Record<string, unknown>;
  fields.slot = LARGE;
  fields.task = LARGE + 1;
  Object.entries<Field>(EVENTS[event.type].fields).forEach(([name, { kind }], place) => {
    fields[name] = filled(name, kind, place);
  });
}

function filled(name: string, kind: FieldKind, place: number): unknown {
  switch (kind) {
    case 'number':
      return LARGE + place;
    case 'byte':
      return SMALL + place;
    case 'flag':
      return true;
    case 'text':
    case 'sparse':
      return `${name} ü`;
    case 'claim':
      return { windowMs: SMALL, start: 0, words: Uint32Array.of(1, 2, 3, 4, 5, 6, 7, 2 ** 32 - 1) };
    case 'numbers':
      return [SMALL, LARGE];
    case 'pieces':
    case 'payload':
      return payloadOf(testUtf8.encode(JSON.stringify(name)));
  }
}

function parseField(template: unknown, value: unknown): unknown {
  if (typeof template !== 'object' || template === null || Array.isArray(template)) return value;
  if (!('words' in template)) return payloadOf(Uint8Array.from(Buffer.from(String(value), 'hex')));
  const { windowMs, words } = value as { windowMs: number; words: number[] };
  return { windowMs, start: 0, words: Uint32Array.from(words) };
}

function payloadOf(bytes: Uint8Array): PayloadRange {
  return { bytes, start: 0, end: bytes.length };
}

function encoded(event: Event): Uint8Array {
  const writer = new RecordWriter(testUtf8);
  writer.beginRecord(0);
  encodeEvent(writer, event);
  writer.endRecord();
  return writer.bytes.slice(0, writer.length);
}

function hexOfBytes(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? hexOf(value) : value;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
