import { listTexts, namedTexts, type Usage } from '@sluice/core';
import type { AttemptRecord } from '../records/attempt-record.ts';
import type { ChangeRecord } from '../records/change-record.ts';
import type { DeliveryRecord } from '../records/delivery-record.ts';
import type { StepOfRun, TaskRecord } from '../records/task-record.ts';

/**
 * The part of a record without separate columns, as JSON. It uses lists instead of objects, because
 * field names would be most of the text.
 */
export function packBody(record: TaskRecord): string {
  const { priority, reason } = record;
  const { attempt, dueAt, endedAt, cancelAskedAt, answer, isDiscarded, state } = record;
  return JSON.stringify([
    [priority, ...listTexts(record)],
    [state, reason, attempt, dueAt, endedAt, cancelAskedAt, answer, isDiscarded ? 1 : 0],
    record.attempts.map(packAttempt),
    record.changes,
    ...(record.deliveries.length === 0 && record.step === undefined ? [] : [record.deliveries]),
    ...(record.step === undefined ? [] : [record.step]),
  ]);
}

/** The columns of a row. */
export interface RowColumns {
  readonly number: number;
  readonly queue: string;
  readonly submittedAt: number;
  readonly parent: string;
  readonly input: string;
  readonly result: string;
  readonly body: string;
}

export function unpackRecord(row: RowColumns): TaskRecord {
  const [details, progress, attempts, changes, deliveries = [], step] = JSON.parse(
    row.body,
  ) as Body;
  const [priority, ...said] = details;
  const [state, reason, attempt, dueAt, endedAt, cancelAskedAt, answer, isDiscarded] = progress;
  return {
    number: row.number,
    submittedAt: row.submittedAt,
    queue: row.queue,
    priority,
    // Older rows lack texts that were added to the list later: those are empty.
    ...namedTexts(said),
    input: row.input,
    state,
    reason,
    attempt,
    dueAt,
    endedAt,
    cancelAskedAt,
    answer,
    result: row.result,
    isDiscarded: isDiscarded === 1,
    attempts: attempts.map(unpackAttempt),
    changes,
    deliveries,
    ...(step === undefined ? {} : { step }),
  };
}

type Numbers = readonly [number, number, number, number, number, number, number, number];
type PackedAttempt = readonly [
  number,
  string,
  number,
  number,
  number,
  string,
  string,
  string,
  Usage?,
];
type Body = readonly [
  readonly [number, ...string[]],
  Numbers,
  readonly PackedAttempt[],
  ChangeRecord[],
  DeliveryRecord[]?,
  StepOfRun?,
];

function packAttempt(record: AttemptRecord): PackedAttempt {
  const { attempt, worker, leasedAt, startedAt, endedAt, outcome, error, output, usage } = record;
  const packed = [attempt, worker, leasedAt, startedAt, endedAt, outcome, error, output] as const;
  return usage === undefined ? packed : [...packed, usage];
}

function unpackAttempt(packed: PackedAttempt): AttemptRecord {
  const [attempt, worker, leasedAt, startedAt, endedAt, outcome, error, output, usage] = packed;
  return {
    ...{ attempt, worker, leasedAt, startedAt, endedAt, outcome, error, output },
    ...(usage === undefined ? {} : { usage }),
  };
}
