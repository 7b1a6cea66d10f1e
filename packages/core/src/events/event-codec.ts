import { EVENTS, type Event, type EventType } from './events.ts';
import type { EventDeclaration, Field, FieldKind } from './fields.ts';
import { decodeHot, encodeHot } from './hot-events.ts';
import { makeEvent } from './make-events.ts';
import type { RecordReader } from './record-reader.ts';
import type { RecordWriter } from './record-writer.ts';

/**
 * Events as bytes: number of the type, version, slot, task, then the fields in the order of the
 * table (`events.ts`). The most frequent events have handwritten functions in `hot-events.ts`; a
 * test checks that both ways give the same bytes.
 */
export class UnknownEventError extends Error {
  override readonly name = 'UnknownEventError';

  constructor(type: number, version: number) {
    super(
      `the log holds an event of type ${type} version ${version}, which this version of Sluice ` +
        'does not know; start the version that wrote it',
    );
  }
}

/**
 * Plain numbers by type. Reading them from the declarations, which differ in shape, made V8 compile
 * and discard this code thousands of times.
 */
const NUMBERS = byType(({ number }) => number);
const VERSIONS = byType(({ version }) => version);

function byType(
  of: (declaration: EventDeclaration) => number,
): Readonly<Record<EventType, number>> {
  const entries = Object.entries<EventDeclaration>(EVENTS);
  return Object.fromEntries(entries.map(([type, declaration]) => [type, of(declaration)])) as never;
}

export function encodeEvent(writer: RecordWriter, event: Event): void {
  beginEvent(writer, event);
  if (!encodeHot(writer, event)) encodeFields(writer, event);
}

/** Encodes by the table alone; gives the same bytes. */
export function encodeByTable(writer: RecordWriter, event: Event): void {
  beginEvent(writer, event);
  encodeFields(writer, event);
}

function beginEvent(writer: RecordWriter, event: Event): void {
  writer.beginEvent(NUMBERS[event.type], VERSIONS[event.type]);
  writer.varint(event.slot);
  writer.varint(event.task);
}

/** The fields of an event, of any type. */
type Values = Record<string, never>;

/** Fields of an event in log order. Adjacent sparse texts form one step. */
interface Step {
  readonly kind: FieldKind;
  readonly names: readonly string[];
}

const STEPS = Object.fromEntries(
  Object.entries<EventDeclaration>(EVENTS).map(([type, { fields }]) => [type, stepsOf(fields)]),
) as unknown as Readonly<Record<EventType, readonly Step[]>>;

function stepsOf(fields: Readonly<Record<string, Field>>): Step[] {
  const steps: { kind: FieldKind; names: string[] }[] = [];
  for (const [name, { kind }] of Object.entries(fields)) {
    const last = steps.at(-1);
    if (kind === 'sparse' && last?.kind === 'sparse') last.names.push(name);
    else steps.push({ kind, names: [name] });
  }
  return steps;
}

function encodeFields(writer: RecordWriter, event: Event): void {
  const values = event as unknown as Values;
  for (const { kind, names } of STEPS[event.type]) {
    if (kind === 'sparse') writer.sparse(names.map((name) => values[name]));
    else encodeField(writer, kind, values[names[0]]);
  }
}

function encodeField(writer: RecordWriter, kind: Exclude<FieldKind, 'sparse'>, value: never): void {
  switch (kind) {
    case 'number':
      return writer.varint(value);
    case 'byte':
      return writer.byte(value);
    case 'flag':
      return writer.byte(value ? 1 : 0);
    case 'text':
      return writer.name(value);
    case 'payload':
      return writer.payload(value);
    case 'pieces':
      return writer.pieces(value);
    case 'numbers':
      return writer.numbers(value);
    case 'claim':
      return writer.claim(value);
  }
}

/** Decodes events one after the other into the same objects. Each is valid until the next call. */
export class EventDecoder {
  /** One event object per type, by number. */
  private readonly byNumber: (Event | undefined)[] = [];
  private readonly decodesHot: boolean;

  /** Tests set `decodesHot` to false to read by the table alone. */
  constructor({ decodesHot = true } = {}) {
    this.decodesHot = decodesHot;
    for (const [type, { number }] of Object.entries(EVENTS)) {
      this.byNumber[number] = makeEvent(type as EventType) as Event;
    }
  }

  next(reader: RecordReader): Event {
    const number = reader.byte();
    const version = reader.byte();
    const event = this.byNumber[number];
    if (event === undefined || version !== EVENTS[event.type].version) {
      throw new UnknownEventError(number, version);
    }
    event.slot = reader.varint() as typeof event.slot;
    event.task = reader.varint() as typeof event.task;
    if (!this.decodesHot || !decodeHot(reader, event)) decodeFields(reader, event);
    return event;
  }
}

function decodeFields(reader: RecordReader, event: Event): void {
  const values = event as unknown as Values;
  for (const { kind, names } of STEPS[event.type]) {
    if (kind === 'sparse') setSparse(values, names, reader.sparse());
    else decodeField(reader, kind, values, names[0]);
  }
}

function setSparse(into: Values, names: readonly string[], texts: readonly string[]): void {
  names.forEach((name, place) => {
    into[name] = (texts[place] ?? '') as never;
  });
}

function decodeField(
  reader: RecordReader,
  kind: Exclude<FieldKind, 'sparse'>,
  values: Record<string, unknown>,
  name: string,
): void {
  switch (kind) {
    case 'number':
      values[name] = reader.varint();
      return;
    case 'byte':
      values[name] = reader.byte();
      return;
    case 'flag':
      values[name] = reader.byte() === 1;
      return;
    case 'text':
      values[name] = reader.name();
      return;
    case 'payload':
      return reader.payload(values[name] as never);
    case 'pieces':
      return reader.pieces(values[name] as never);
    case 'numbers':
      values[name] = reader.numbers();
      return;
    case 'claim':
      return reader.claim(values[name] as never);
  }
}
