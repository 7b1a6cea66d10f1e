import { expect, test } from 'vitest';
import { EventStreamParser, type StreamEvent } from '../support/event-stream-parser.ts';

function parse(...chunks: readonly Buffer[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  const parser = new EventStreamParser((event) => events.push(event));
  for (const chunk of chunks) parser.push(chunk);
  return events;
}

const STREAM = Buffer.from(
  ': comment\nevent: welcome\ndata: {"name":"Zoë €"}\n\nevent:tasks\r\ndata:[1]\r\n\r\n' +
    'data: a\rdata: b\r\rid: 7\n\nevent: unfinished\ndata: {}\n',
);
const EVENTS = [
  { name: 'welcome', data: '{"name":"Zoë €"}' },
  { name: 'tasks', data: '[1]' },
  { name: 'message', data: 'a\nb' },
];

test('a stream in one chunk gives its finished events and nothing else', () => {
  expect(parse(STREAM)).toEqual(EVENTS);
});

test('it does not matter where the stream is cut', () => {
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
  expect(parse(...Array.from(STREAM, (byte) => Buffer.from([byte])))).toEqual(EVENTS);
});
