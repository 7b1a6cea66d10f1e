import { join } from 'node:path';
import {
  blobOf,
  type Event,
  EventDecoder,
  type PayloadRange,
  REASONS,
  readEvents,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import { peekLogFolder } from '@sluice/log';
import { UTF8 } from './utf8.ts';
import { workerIdOf } from './workers/worker-id.ts';

export interface DumpOptions {
  /** The first record; what is before it is left out. */
  readonly from: number;
  /** Inputs, outputs and errors belong to users, so they are shown only when asked for. */
  readonly withPayloads: boolean;
  readonly print: (line: string) => void;
}

/** Prints the events of a data folder as JSON lines. The server may run meanwhile. */
export async function dumpLog(dataFolder: string, options: DumpOptions): Promise<void> {
  const { from, withPayloads, print } = options;
  const events = new EventDecoder();
  await peekLogFolder(join(dataFolder, 'log'), {
    from,
    onBatch: ({ firstRecord, bytes }) => {
      const visit = (event: Event, at: number, place: number): void => {
        const record = firstRecord + place;
        if (record < from) return;
        const { type, ...fields } = event;
        const shown = Object.entries(fields).map(([name, value]) => {
          return [name, shownValue(name, value, withPayloads)];
        });
        const time = new Date(at).toISOString();
        const id = type === 'task_submitted' ? { id: idOf(event.task, at) } : {};
        print(JSON.stringify({ record, at: time, type, ...id, ...Object.fromEntries(shown) }));
      };
      readEvents(bytes, UTF8, visit, events);
    },
  });
}

function shownValue(name: string, value: unknown, withPayloads: boolean): unknown {
  if (isPayload(value)) return withPayloads ? payloadOf(value) : `${value.end - value.start} bytes`;
  // A callback may have a secret in it, and a session's id is one.
  if (name === 'callback' && value !== '') return '(hidden)';
  // Of a key: of no use to anybody but the server.
  if (name === 'hash' && typeof value === 'string') return '(hidden)';
  if (name === 'session' && typeof value === 'string') return workerIdOf(value);
  if (name === 'state' && typeof value === 'number') return TASK_STATES[value];
  if (name === 'reason' && typeof value === 'number') return REASONS[value];
  if (typeof value === 'object' && value !== null) return plain(value);
  return value;
}

function idOf(number: TaskNumber, submittedAt: number): string {
  return taskIdText({ submittedAt, partition: 0, number });
}

function isPayload(value: unknown): value is PayloadRange {
  return typeof value === 'object' && value !== null && 'bytes' in value && 'start' in value;
}

/** An empty range stands for null. */
function payloadOf({ bytes, start, end }: PayloadRange): unknown {
  if (start === end) return null;
  const text = UTF8.decode(bytes.subarray(start, end));
  const blob = blobOf(text);
  return blob === undefined ? JSON.parse(text) : { blob };
}

/** Words of a hash stand in typed arrays, which JSON would show as objects. */
function plain(value: object): unknown {
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      ArrayBuffer.isView(part) ? hex(part) : part,
    ]),
  );
}

function hex(view: ArrayBufferView): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('hex');
}
