/** The commands that the rows send. They define what a task of the benchmark is. */
import {
  type AttachSession,
  DEFAULT_NAMESPACE,
  type LeaseNumber,
  leaseTokenText,
  type PartitionLimits,
  type ReadonlyState,
  type ReportAttempts,
  type SessionId,
  type Slot,
  type SubmitTasks,
  type TaskSpec,
} from '@sluice/core';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const UTF8 = {
  encode: (text: string) => encoder.encode(text),
  decode: (bytes: Uint8Array) => decoder.decode(bytes),
};

/** The limits of the server, so that columns have the same length. */
export const LIMITS: PartitionLimits = {
  tasksMax: 10_000_000,
  payloadBytesMax: 2 ** 40,
  finishedTasksMax: 1_000_000,
  deadLettersMax: 100_000,
  callbacksMax: 100_000,
  dedupeKeysMax: 10_000_000,
  sessionsMax: 50_000,
  unsentBytesMax: 2 ** 40,
};

const INPUT = encoder.encode(
  JSON.stringify({
    url: 'https://example.org/videos/0001.mp4',
    height: 720,
    tags: 'a'.repeat(100),
  }),
);
const OUTPUT = encoder.encode('{"url":"https://example.org/1.mp4"}');

export const INPUT_BYTES = INPUT.length;

type Timeless<C> = Omit<C, 'now'>;

/** A submit of `count` equal tasks. */
export function submitRequest(count: number): Timeless<SubmitTasks> {
  return submitTasksRequest(Array.from({ length: count }, () => ({ type: 'bench' })));
}

export function submitTasksRequest(tasks: readonly TaskSpec[]): Timeless<SubmitTasks> {
  return {
    type: 'submit_tasks',
    namespace: DEFAULT_NAMESPACE,
    tasks,
    ...repeated(INPUT, tasks.length, 'inputs', 'inputEnds'),
  };
}

export function attachRequest(
  session: string,
  slots: number,
  offer: Partial<AttachSession> = {},
): Timeless<AttachSession> {
  return {
    type: 'attach_session',
    newSession: session as SessionId,
    namespace: DEFAULT_NAMESPACE,
    worker: `worker of ${session}`,
    version: '1',
    types: [{ type: 'bench' }],
    capacity: { slots },
    labels: new Map(),
    leaseMs: 600_000,
    ...offer,
  };
}

export function successRequest(
  session: string,
  leases: readonly string[],
): Timeless<ReportAttempts> {
  return {
    type: 'report_attempts',
    namespace: DEFAULT_NAMESPACE,
    session: session as SessionId,
    reports: leases.map((lease) => ({ lease, kind: 'succeeded' as const })),
    seed: 1,
    ...repeated(OUTPUT, leases.length, 'payloads', 'payloadEnds'),
  };
}

export function leaseOf({ tasks }: ReadonlyState, slot: Slot): string {
  return leaseTokenText({ partition: 0, slot, number: tasks.lease[slot] as LeaseNumber });
}

/** The same bytes for each entry of a command, under the field names of that command. */
function repeated<B extends string, E extends string>(
  content: Uint8Array,
  count: number,
  bytesName: B,
  endsName: E,
): Record<B, Uint8Array> & Record<E, number[]> {
  const bytes = new Uint8Array(content.length * count);
  const ends: number[] = [];
  for (let i = 0; i < count; i++) {
    bytes.set(content, i * content.length);
    ends.push((i + 1) * content.length);
  }
  return { [bytesName]: bytes, [endsName]: ends } as Record<B, Uint8Array> & Record<E, number[]>;
}
