import { QUEUED, SUCCEEDED } from '@sluice/core';
import type { TaskRecord } from '../records/task-record.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const START_AT = Date.UTC(2030, 0, 1);

/** A task that was submitted at noon of that day; the first day is 1. */
export function record(number: number, day: number, state = SUCCEEDED): TaskRecord {
  const submittedAt = START_AT + (day - 0.5) * DAY_MS;
  return {
    number,
    submittedAt,
    queue: 'mail',
    priority: 5,
    shape: '',
    retry: '',
    timeouts: '',
    tags: '{"team":"a"}',
    callback: '',
    parent: '',
    input: '{}',
    state,
    reason: 0,
    attempt: 1,
    dueAt: submittedAt,
    endedAt: state === QUEUED ? 0 : submittedAt,
    cancelAskedAt: 0,
    answer: 0,
    result: '',
    isDiscarded: false,
    attempts: [],
    changes: [],
    deliveries: [],
  };
}
