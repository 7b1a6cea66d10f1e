import { DEFAULT_NAMESPACE, QUEUED, WAITING } from '@sluice/core';
import { beforeEach, expect, test } from 'vitest';
import { type ChangeQuery, ChangeRing } from './change-ring.ts';
import type { TaskRecord } from './records/task-record.ts';

const SIZE = 4;

let ring: ChangeRing;

beforeEach(() => {
  ring = new ChangeRing(SIZE);
  ring.begin(0);
});

/** Adds a change of that task in that record. */
function change(position: number, number: number, queue = 'mail'): void {
  const record = { number, submittedAt: 0, queue } as TaskRecord;
  ring.add(position, record, [0, WAITING, QUEUED, 0, number, '']);
  ring.reached(position + 1);
}

interface Read {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: Record<string, unknown>;
}

function read(query: Partial<ChangeQuery>): Read[] {
  const { text } = ring.read({ after: -1, start: 's', namespace: DEFAULT_NAMESPACE, ...query });
  return text.split('\n\n').slice(0, -1).map(parseFrame);
}

function parseFrame(frame: string): Read {
  const lines = Object.fromEntries(
    frame
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  return { event: lines.event, id: lines.id, data: JSON.parse(lines.data) };
}

function numbers(events: readonly Read[]): unknown[] {
  return events.map(({ data }) => data.attempt);
}

test('a reader gets what is behind his place, each change once', () => {
  for (const position of [0, 1, 2]) change(position, position + 10);

  expect(numbers(read({ after: 0 }))).toEqual([11, 12]);
  expect(read({ after: 2 })).toEqual([]);
});

test('only the last change of a record has its place as id', () => {
  for (const number of [1, 2, 3]) change(0, number);
  change(1, 4);

  expect(read({}).map(({ id }) => id)).toEqual([undefined, undefined, 's-0', 's-1']);
});

test('the last change that is wanted has the id, whatever follows it in its record', () => {
  change(0, 1, 'mail');
  change(0, 2, 'sms');
  change(1, 3, 'sms');

  expect(read({ queue: 'mail' })).toMatchObject([{ id: 's-0', data: { type: 'mail' } }]);
  expect(numbers(read({ task: 3 }))).toEqual([3]);
});

test('another namespace sees nothing of it', () => {
  change(0, 1, 'other/mail');

  expect(read({})).toEqual([]);
  expect(read({ namespace: 'other' })).toMatchObject([{ data: { type: 'mail' } }]);
});

test('what was overwritten is a gap, with the rest of its record', () => {
  for (const number of [1, 2]) change(0, number);
  for (const number of [3, 4, 5]) change(1, number);

  const [gap, ...changes] = read({});
  expect(gap).toEqual({ event: 'gap', id: 's-0', data: { from: 0, to: 1 } });
  expect(numbers(changes)).toEqual([3, 4, 5]);
  expect(numbers(read({ after: 0 }))).toEqual([3, 4, 5]);
});

test('what was before the start is a gap', () => {
  ring.begin(7);
  change(5, 1);
  change(7, 2);

  expect(read({ after: 3 })).toMatchObject([
    { event: 'gap', id: 's-6', data: { from: 4, to: 7 } },
    { event: 'change', id: 's-7' },
  ]);
});

test('a reader whose filter lets nothing through comes to the end all the same', () => {
  for (const position of [0, 1, 2]) change(position, position);

  const { after, text, isMore } = ring.read({ after: -1, start: 's', namespace: 'other' });
  expect({ after, text, isMore }).toEqual({ after: 2, text: '', isMore: false });
});

test('much is answered in parts, and records stay whole', () => {
  const large = new ChangeRing(5000);
  large.begin(0);
  const record = { number: 1, submittedAt: 0, queue: 'mail' } as TaskRecord;
  for (let position = 0; position < 4; position++) {
    for (let n = 0; n < 700; n++) large.add(position, record, [0, -1, QUEUED, 0, 1, '']);
    large.reached(position + 1);
  }

  const first = large.read({ after: -1, start: 's', namespace: DEFAULT_NAMESPACE });
  expect(first).toMatchObject({ after: 1, isMore: true });
  expect(first.text.split('\n\n')).toHaveLength(1401);
  const second = large.read({ after: first.after, start: 's', namespace: DEFAULT_NAMESPACE });
  expect(second).toMatchObject({ after: 3, isMore: true });
  expect(large.read({ after: second.after, start: 's', namespace: DEFAULT_NAMESPACE })).toEqual({
    text: '',
    after: 3,
    isMore: false,
  });
});

test('a reader whose place is not in this log gets a gap and all that is at hand', () => {
  for (const position of [0, 1]) change(position, position + 10);

  const [gap, ...changes] = read({ after: 99, isLost: true });
  expect(gap).toEqual({ event: 'gap', id: undefined, data: { from: 0, to: 0 } });
  expect(numbers(changes)).toEqual([10, 11]);

  for (const position of [2, 3, 4, 5]) change(position, position + 10);
  const [later] = read({ after: 3, isLost: true });
  expect(later).toEqual({ event: 'gap', id: 's-1', data: { from: 0, to: 2 } });
});
