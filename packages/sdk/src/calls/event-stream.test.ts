import { expect, test } from 'vitest';
import { EventStreamParser, type StreamEvent } from './event-stream.ts';

const EVENT_BYTES_MAX = 100;

function parse(...chunks: readonly Uint8Array[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const parser = new EventStreamParser((event) => events.push(event), EVENT_BYTES_MAX);
  for (const chunk of chunks) parser.push(chunk);
  return events;
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const STREAM = bytes(
  ': comment\nevent: welcome\ndata: {"name":"Zoë €😀"}\n\nevent:tasks\r\ndata:[1]\r\n\r\n' +
    'data: a\rdata: b\r\rid: 7\n\nretry: 5\nevent: unfinished\ndata: {}\n',
);
const EVENTS = [
  { name: 'welcome', data: '{"name":"Zoë €😀"}' },
  { name: 'tasks', data: '[1]' },
  { name: 'message', data: 'a\nb' },
];

test('a stream in one chunk gives its finished events and nothing else', () => {
  expect(parse(STREAM)).toEqual(EVENTS);
});

test('it does not matter where the stream is cut, also inside a character', () => {
  for (let first = 0; first <= STREAM.length; first++) {
    for (let second = first; second <= STREAM.length; second++) {
      const events = parse(
        STREAM.subarray(0, first),
        STREAM.subarray(first, second),
        STREAM.subarray(second),
      );
      if (JSON.stringify(events) === JSON.stringify(EVENTS)) continue;
      expect(events, `cut at ${first} and ${second}`).toEqual(EVENTS);
    }
  }
});

test('it may come byte by byte', () => {
  expect(parse(...Array.from(STREAM, (byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
});

test('a stream that ends inside an event never yields it (event-stream.whole-events)', () => {
  const whole = bytes('event: tasks\ndata: [1]\n\n');

  for (let length = 0; length < whole.length; length++) {
    expect(parse(whole.subarray(0, length)), `cut at ${length}`).toEqual([]);
  }
  expect(parse(whole)).toHaveLength(1);
});

test('a mark of the byte order at the beginning is no part of the first field', () => {
  const stream = bytes('\u{feff}data: a\n\n');

  expect(stream[0]).toBe(0xef);
  expect(parse(stream)).toEqual([{ name: 'message', data: 'a' }]);
});

/** A `data:` line of this length. */
function dataLine(length: number): string {
  return `data: ${'x'.repeat(length - 'data: '.length)}`;
}

test('an event of just the largest size comes out, also behind others and behind comments', () => {
  const largest = `${dataLine(EVENT_BYTES_MAX)}\n\n`;
  const comments = `: ${'c'.repeat(EVENT_BYTES_MAX - 2)}\n`.repeat(3);

  const events = parse(bytes(`${largest}${comments}${largest}`));

  expect(events).toHaveLength(2);
});

test.each([
  ['in one line', `${dataLine(EVENT_BYTES_MAX + 1)}\n\n`],
  ['in many lines', `${dataLine(50)}\n${dataLine(51)}\n\n`],
  ['with its name', `event: a\n${dataLine(EVENT_BYTES_MAX - 7)}\n\n`],
  ['without an end', 'x'.repeat(EVENT_BYTES_MAX + 1)],
])('an event a byte too large, %s, ends the stream (event-stream.bounded-event)', (_how, text) => {
  const events: StreamEvent[] = [];
  const parser = new EventStreamParser((event) => events.push(event), EVENT_BYTES_MAX);

  const results = Array.from(bytes(text), (byte) => parser.push(Uint8Array.of(byte)));

  expect(results).toContain(false);
  expect(parser.push(bytes('\n\ndata: a\n\n'))).toBe(false);
  expect(events).toEqual([]);
});

test('an event has the last id of its stream, also of a frame without data', () => {
  const parsed = parse(bytes('data: a\n\nid: 7\n\ndata: b\n\nid: 8\ndata: c\n\nid: 9\n'));

  expect(parsed).toEqual([
    { name: 'message', data: 'a' },
    { name: 'message', data: 'b', id: '7' },
    { name: 'message', data: 'c', id: '8' },
  ]);
});
