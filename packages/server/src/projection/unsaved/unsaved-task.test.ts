import { QUEUED, type Slot, type TaskNumber, WAITING } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { advanceRecord, beginRecord, withText } from '../records/task-record.ts';
import type { Passed } from '../rows/day-files.ts';
import type { AnyRecord } from '../rows/stored-row.ts';
import { submitted } from './submitted-fixture.ts';
import { UnsavedSearch } from './unsaved-search.ts';
import { UnsavedTask } from './unsaved-task.ts';

const NOW = 5000;
const WHERE = { since: 3, sinceAt: NOW, position: 7 };
const EVER = { since: 0, until: Number.POSITIVE_INFINITY };
const ALL = { namespace: 'default', before: Number.MAX_SAFE_INTEGER, from: 0, limit: 100 };

describe('a task that was only submitted', () => {
  test.each([
    ['now', 0, QUEUED],
    ['for later', NOW + 1, WAITING],
  ])('%s is what its record is', (_when, runAt, state) => {
    const event = submitted(1, { runAt, parent: 't_1', tags: '{"a":"b"}' });
    const task = UnsavedTask.submitted(event, WHERE);
    const record = beginRecord(withText(event), NOW);

    expect(task.fullRecord).toEqual(record);
    expect(task.lastChange).toEqual(record.changes[0]);
    expect(task.state).toBe(state);
    const { number, submittedAt, queue, parent, tags, input, result, isDiscarded } = task;
    expect(record).toMatchObject({ number, submittedAt, queue, parent, tags, input, result });
    expect([isDiscarded, task.hasEnded]).toEqual([false, false]);
  });

  test('does not change when the decoder uses the event again', () => {
    const event = submitted(1);
    const task = UnsavedTask.submitted(event, WHERE);
    Object.assign(event, { taskType: 'other' });
    Object.assign(event.input, { start: 0, end: 6 });

    expect(task.fullRecord).toMatchObject({ queue: 'mail', input: '{"n":1}' });
  });

  test('takes less memory than the record that takes in what happens next', () => {
    const task = UnsavedTask.submitted(submitted(1), WHERE);
    const before = task.bytes;
    const paused = { type: 'task_paused', slot: 0 as Slot, task: 1 as TaskNumber } as const;
    const record = task.grow();
    if (record !== undefined) advanceRecord(record, paused, NOW);

    expect(task.fullRecord).toBe(record);
    expect(record?.changes).toHaveLength(2);
    expect(task.bytes).toBeGreaterThan(before);
  });
});

describe('a search of memory', () => {
  const tasks = (numbers: readonly number[]) => {
    return numbers.map((number) => UnsavedTask.submitted(submitted(number), WHERE));
  };

  test('finds the newest first, and each once', () => {
    const search = new UnsavedSearch(tasks([2, 9, 4, 7]), ALL, EVER);

    expect(numbersOf(search.downTo(7))).toEqual([9, 7]);
    expect(numbersOf(search.downTo(5))).toEqual([]);
    expect(numbersOf(search.downTo(0))).toEqual([4, 2]);
  });

  test('looks at payloads and fields', () => {
    const found = (query: object): number[] => {
      return numbersOf(new UnsavedSearch(tasks([1]), { ...ALL, ...query }, EVER).downTo(0));
    };

    expect(found({ text: '"n"' })).toEqual([1]);
    expect(found({ text: 'before' })).toEqual([]);
    expect(found({ queue: 'mail', isOpen: true, state: 'queued' })).toEqual([1]);
    expect(found({ tags: { a: 'b' } })).toEqual([]);
  });

  test('says how far it has come when nothing is found for long', () => {
    const many = tasks(Array.from({ length: 25_000 }, (_, number) => number + 1));
    const search = new UnsavedSearch(many, { ...ALL, queue: 'none' }, EVER);

    expect([...search.downTo(0)]).toEqual([{ passed: 15_001 }, { passed: 5001 }]);
  });
});

function numbersOf(found: Iterable<AnyRecord | Passed>): number[] {
  return [...found].map((each) => ('passed' in each ? -each.passed : each.number));
}
