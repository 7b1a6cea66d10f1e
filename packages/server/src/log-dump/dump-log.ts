import { join } from 'node:path';
import {
  blobOf,
  EVENTS,
  type Event,
  EventDecoder,
  type Field,
  type PayloadRange,
  REASONS,
  RUN_REASONS,
  RUN_RELATIONS,
  RUN_STATES,
  readEvents,
  runIdText,
  STEP_STATES,
  TASK_STATES,
  taskIdText,
} from '@sluice/core';
import { peekLogFolder } from '@sluice/log';
import { hideSecrets } from '../base/exec-envelope.ts';
import { UTF8 } from '../base/utf8.ts';
import { workerIdOf } from '../workers/worker-id.ts';

export interface DumpOptions {
  /** Number of the log's partition; task ids contain it. */
  readonly partition: number;
  /** The first record to print; earlier ones are left out. */
  readonly from: number;
  /** Inputs, outputs and errors belong to users, so they are shown only on request. */
  readonly withPayloads: boolean;
  readonly print: (line: string) => void;
}

/** Events that make something with an id. */
const ID_TEXTS = {
  task_submitted: taskIdText,
  step_submitted: taskIdText,
  run_started: runIdText,
  child_started: runIdText,
} as const;

/** Prints the events of a data folder as JSON lines. The server may run meanwhile. */
export async function dumpLog(dataFolder: string, options: DumpOptions): Promise<void> {
  const { partition, from, withPayloads, print } = options;
  const events = new EventDecoder();
  await peekLogFolder(join(dataFolder, 'log'), {
    from,
    onBatch: ({ firstRecord, bytes }) => {
      const visit = (event: Event, at: number, place: number): void => {
        const record = firstRecord + place;
        if (record < from) return;
        const { type } = event;
        const values = event as unknown as Readonly<Record<string, unknown>>;
        const shown = Object.entries<Field>(EVENTS[type].fields).map(([name, field]) => {
          return [name, shownValue(field, values[name], withPayloads)];
        });
        const about = { slot: event.slot, task: event.task };
        const time = new Date(at).toISOString();
        const key = { submittedAt: at, partition, number: event.task };
        const id = type in ID_TEXTS ? { id: ID_TEXTS[type as keyof typeof ID_TEXTS](key) } : {};
        const fields = Object.fromEntries(shown);
        print(JSON.stringify({ record, at: time, type, ...id, ...about, ...fields }));
      };
      readEvents(bytes, UTF8, visit, events);
    },
  });
}

/** The table of events declares how each field is shown. */
function shownValue({ kind, dump }: Field, value: unknown, withPayloads: boolean): unknown {
  if (kind === 'payload' || kind === 'pieces') {
    const range = value as PayloadRange;
    return withPayloads ? payloadOf(range) : `${range.end - range.start} bytes`;
  }
  if (kind === 'claim') return plain(value as object);
  if (value === '') return value;
  switch (dump) {
    case 'hidden':
      return '(hidden)';
    case 'session':
      return workerIdOf(value as string);
    case 'state':
      return TASK_STATES[value as number];
    case 'reason':
      return REASONS[value as number];
    case 'runState':
      return RUN_STATES[value as number];
    case 'stepState':
      return STEP_STATES[value as number];
    case 'runReason':
      return RUN_REASONS[value as number];
    case 'relation':
      return RUN_RELATIONS[value as number];
    default:
      return value;
  }
}

/** An empty range stands for null. */
function payloadOf({ bytes, start, end }: PayloadRange): unknown {
  if (start === end) return null;
  const text = UTF8.decode(bytes.subarray(start, end));
  const blob = blobOf(text);
  return blob === undefined ? hideSecrets(JSON.parse(text)) : { blob };
}

/** Words of a hash are typed arrays, which JSON would show as objects. */
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
