import {
  type AttachSession,
  type CancelTasks,
  type Command,
  type LeaseNumber,
  leaseTokenText,
  Partition,
  type PartitionLimits,
  RecordWriter,
  type Replies,
  type ReportAttempts,
  type SessionId,
  type Slot,
  type SubmitTasks,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import { expect, test } from 'vitest';
import { taskViewJson } from './task-view.ts';

const LIMITS: PartitionLimits = {
  tasksMax: 10,
  payloadBytesMax: 10_000,
  finishedTasksMax: 10,
  deadLettersMax: 10,
  callbacksMax: 10,
  dedupeKeysMax: 10,
  unsentBytesMax: 10_000,
  sessionsMax: 10,
};
const UTF8 = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};
const namespace = 'default';
const session = 's' as SessionId;
const slot = 0 as Slot;

test('the output of an attempt whose task was cancelled stands with the attempt alone', () => {
  const partition = new Partition({ partition: 0, limits: LIMITS, utf8: UTF8 });
  const writer = new RecordWriter(UTF8);
  const execute = <C extends Command>(command: Omit<C, 'now'>): Replies[C['type']] =>
    partition.execute({ ...command, now: 1000 } as unknown as C, writer);
  execute<AttachSession>({
    type: 'attach_session',
    namespace,
    newSession: session,
    worker: 'w',
    version: '',
    types: [{ type: 'hello' }],
    capacity: { slots: 1 },
    labels: new Map(),
    leaseMs: 5000,
  });
  execute<SubmitTasks>({
    type: 'submit_tasks',
    namespace,
    tasks: [{ type: 'hello' }],
    inputs: new Uint8Array(0),
    inputEnds: [0],
  });
  const id = taskIdText({ submittedAt: 1000, partition: 0, number: 1 as TaskNumber });
  execute<CancelTasks>({ type: 'cancel_tasks', namespace, ids: [id], graceMs: 1000 });
  const payloads = UTF8.encode('{"url":"done"}');
  const lease = leaseTokenText({ partition: 0, slot, number: 1 as LeaseNumber });
  execute<ReportAttempts>({
    type: 'report_attempts',
    namespace,
    session,
    reports: [{ lease, kind: 'succeeded' }],
    seed: 1,
    payloads,
    payloadEnds: [payloads.length],
  });

  const view = JSON.parse(taskViewJson(partition.state, slot));

  expect(view).toMatchObject({ id, state: 'cancelled', output: null, error: null });
  expect(view.attempts).toMatchObject([{ attempt: 1, output: { url: 'done' } }]);
});
