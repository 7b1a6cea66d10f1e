import { type EventOf, type Slot, SUCCEEDED, type TaskNumber } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packRow, unpackRow } from '../rows/stored-row.ts';
import {
  advanceRecord,
  beginRecord,
  type Later,
  type TaskRecord,
  withText,
} from './task-record.ts';
import { UsualTask } from './usual-task.ts';

const SUBMITTED_AT = 1_900_000_000_000;
const HEAD = { slot: 0 as Slot, task: 7 as TaskNumber };

function payload(text: string) {
  const bytes = new TextEncoder().encode(`before${text}behind`);
  return { bytes, start: 6, end: bytes.length - 6 };
}

/** Texts that JSON has to escape are among them. */
const texts = fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 8 }));

const submits: fc.Arbitrary<EventOf<'task_submitted'>> = fc
  .record({
    runAt: fc.oneof(fc.constant(0), fc.integer({ min: -5, max: 5 })),
    taskType: fc.constantFrom('mail', 'team/mail'),
    priority: fc.integer({ min: 0, max: 8 }),
    shape: texts,
    retry: texts,
    timeouts: texts,
    tags: fc.constantFrom('', '{"a":"b"}'),
    callback: texts,
    parent: texts,
    input: fc.json().map(payload),
  })
  .map(({ runAt, ...told }) => ({
    type: 'task_submitted',
    ...HEAD,
    ...told,
    runAt: runAt === 0 ? 0 : SUBMITTED_AT + runAt,
    dedupe: { words: new Uint32Array(8), start: 0, windowMs: 0 },
  }));

/** Usual events and others, in any order. */
const happenings: fc.Arbitrary<Later> = fc
  .oneof(
    fc.constant({ type: 'task_due' }),
    fc.record({ type: fc.constant('attempt_leased'), worker: texts }),
    fc.constant({ type: 'attempt_started' }),
    fc.record({
      type: fc.constant('attempt_succeeded'),
      startedAt: fc.constantFrom(0, SUBMITTED_AT + 3),
      output: fc.json().map(payload),
    }),
    fc.constant({ type: 'task_paused' }),
    fc.record({
      type: fc.constant('attempt_failed'),
      startedAt: fc.constantFrom(0, SUBMITTED_AT + 3),
      answer: fc.constant(2),
      retryAt: fc.constantFrom(0, SUBMITTED_AT + 9),
      error: fc.constant('{"message":"no"}').map(payload),
    }),
  )
  .map((event) => ({ ...HEAD, ...event }) as unknown as Later);

/** The task with the usual events, and with the first other one the record that it becomes. */
function follow(
  submit: EventOf<'task_submitted'>,
  events: readonly Later[],
): UsualTask | TaskRecord {
  let told: UsualTask | TaskRecord = UsualTask.submitted(submit, SUBMITTED_AT);
  for (const [index, event] of events.entries()) {
    const at = SUBMITTED_AT + index;
    if (told instanceof UsualTask && told.advance(event, at)) continue;
    if (told instanceof UsualTask) told = told.toRecord();
    advanceRecord(told, event, at);
  }
  return told;
}

describe('a usual task', () => {
  test('shows and stores what its record would', () => {
    fc.assert(
      fc.property(submits, fc.array(happenings, { maxLength: 6 }), (submit, events) => {
        const record = beginRecord(withText(submit), SUBMITTED_AT);
        for (const [index, event] of events.entries()) {
          advanceRecord(record, event, SUBMITTED_AT + index);
        }
        const told = follow(submit, events);

        expect(told instanceof UsualTask ? told.toRecord() : told).toEqual(record);
        expect(packRow({ record: told, position: 9 })).toEqual(packRow({ record, position: 9 }));
        if (!(told instanceof UsualTask)) return;
        expect(told.lastChange).toEqual(record.changes.at(-1));
        expect(told.changes).toEqual(record.changes);
        const { queue, parent, tags, state, endedAt, result, isDiscarded } = record;
        expect(told).toMatchObject({ queue, parent, tags, state, endedAt, result, isDiscarded });
      }),
    );
  });

  test('is usual from its submit to its success', () => {
    const submit = fc.sample(
      submits.filter(({ runAt }) => runAt > SUBMITTED_AT),
      1,
    )[0];
    const events = ['task_due', 'attempt_leased', 'attempt_started'].map((type) => {
      return { ...HEAD, type, worker: 'w' } as unknown as Later;
    });
    const end = { ...HEAD, type: 'attempt_succeeded', startedAt: 0, output: payload('1') };
    const told = follow(submit, [...events, end as Later]);

    expect(told).toBeInstanceOf(UsualTask);
    expect(told.state).toBe(SUCCEEDED);
  });

  test('that was stored before anything happened is usual when it is read', () => {
    fc.assert(
      fc.property(submits, (submit) => {
        const task = UsualTask.submitted(submit, SUBMITTED_AT);
        const { record } = unpackRow(packRow({ record: task, position: 9 }));

        expect(UsualTask.of(record as TaskRecord)?.toRecord()).toEqual(task.toRecord());
      }),
    );
  });

  test('is not made of a record to which something happened', () => {
    fc.assert(
      fc.property(
        submits,
        fc.array(happenings, { minLength: 1, maxLength: 4 }),
        (submit, events) => {
          const record = beginRecord(withText(submit), SUBMITTED_AT);
          for (const event of events) advanceRecord(record, event, SUBMITTED_AT + 1);

          expect(UsualTask.of(record)).toBeUndefined();
        },
      ),
    );
  });
});
