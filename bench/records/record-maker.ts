import { FAILED, REASONS, SUCCEEDED } from '@sluice/core';
import type { TaskRecord } from '../../packages/server/src/projection/records/task-record.ts';
import { DayFolder } from '../../packages/server/src/projection/rows/day-file.ts';
import { DayFiles } from '../../packages/server/src/projection/rows/day-files.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const START_AT = Date.UTC(2030, 0, 1);
const DAYS = 7;
const AT_ONCE = 10_000;

/** Fills the files of a week with finished tasks: fifty types, a tenth failed, tags and parents. */
export function madeRecords(folder: string, tasks: number): void {
  const files = new DayFiles(new DayFolder(folder), () => undefined);
  for (let first = 1; first <= tasks; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, tasks + 1 - first);
    const records = Array.from({ length: count }, (_, index) => {
      return { record: recordOf(first + index, tasks), position: 1 };
    });
    files.write(records);
  }
  files.close();
}

function recordOf(number: number, tasks: number): TaskRecord {
  const submittedAt = START_AT + Math.floor((number * DAYS * DAY_MS) / (tasks + 1));
  const isFailed = number % 10 === 0;
  const state = isFailed ? FAILED : SUCCEEDED;
  const outcome = isFailed ? 'failed' : 'succeeded';
  const result = isFailed ? `{"message":"no answer from host ${number % 100}"}` : '{"size":1}';
  const timesOf = {
    leasedAt: submittedAt + 1,
    startedAt: submittedAt + 2,
    endedAt: submittedAt + 3,
  };
  return {
    number,
    submittedAt,
    queue: `type-${number % 50}`,
    priority: 5,
    shape: '',
    retry: '',
    timeouts: '',
    tags: JSON.stringify({ customer: `c-${number % 5000}` }),
    callback: '',
    parent: number % 20 === 0 ? `parent-${number % 1000}` : '',
    input: `{"url":"https://example.org/videos/${number}.mp4","height":720}`,
    state,
    reason: REASONS.indexOf(outcome),
    attempt: 1,
    dueAt: submittedAt,
    endedAt: submittedAt + 3,
    cancelAskedAt: 0,
    answer: 1,
    result,
    isDiscarded: false,
    attempts: [{ attempt: 1, worker: 'w', ...timesOf, outcome, error: '', output: '' }],
    changes: [],
    deliveries: [],
  };
}
