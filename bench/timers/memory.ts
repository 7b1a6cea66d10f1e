import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CronCalendar } from '@sluice/calendar';
import { Partition, RecordWriter } from '@sluice/core';

const UTF8 = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};

/** Schedules that one command creates. */
const BATCH = 200;

/**
 * Bytes of a schedule beside its name, settings and input: its share of the columns, the wheel and
 * the index, which are allocated for as many schedules as there may be, and what the heap holds for
 * it after a garbage collection.
 */
export async function memory(share: number): Promise<Readonly<Record<string, number>>> {
  const count = Math.ceil(100_000 * share);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const partition = new Partition({
    partition: 0,
    utf8: UTF8,
    calendar: new CronCalendar(),
    limits: {
      tasksMax: count,
      payloadBytesMax: 1_000_000_000,
      finishedTasksMax: 10,
      deadLettersMax: 10,
      callbacksMax: 10,
      dedupeKeysMax: 10,
      unsentBytesMax: 1_000_000,
      sessionsMax: 10,
    },
  });
  const writer = new RecordWriter(UTF8);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let from = 0; from < count; from += BATCH) {
    put(partition, writer, { from, to: Math.min(count, from + BATCH) });
  }
  collect();
  const heap = process.memoryUsage().heapUsed - before;
  const columns = typedBytes(partition.state.schedules);
  return { bytesEach: columns / count + heap / count, columnBytesEach: columns / count };
}

function put(
  partition: Partition,
  writer: RecordWriter,
  range: { from: number; to: number },
): void {
  const numbers = Array.from({ length: range.to - range.from }, (_, place) => range.from + place);
  const inputs = UTF8.encode(numbers.map((n) => JSON.stringify({ n })).join(''));
  let end = 0;
  const inputEnds = numbers.map((n) => {
    end += JSON.stringify({ n }).length;
    return end;
  });
  partition.execute(
    {
      type: 'change_schedules',
      now: Date.now(),
      namespace: 'default',
      changes: numbers.map((n) => ({
        name: `s${n}`,
        settings: {
          spec: { cron: `${n % 60} ${Math.floor(n / 60) % 24} * * *`, timeZone: 'Europe/Berlin' },
          task: { type: 'report' },
        },
      })),
      inputs,
      inputEnds,
    },
    writer,
  );
  writer.reset();
}

/** Bytes of all typed arrays that an object holds, directly or through others. */
function typedBytes(root: object): number {
  const seen = new Set<unknown>();
  const todo: unknown[] = [root];
  let bytes = 0;
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (ArrayBuffer.isView(next)) bytes += next.byteLength;
    // The arena holds the payloads of everything, which do not count here.
    else
      for (const [name, value] of Object.entries(next)) if (name !== 'payloads') todo.push(value);
  }
  return bytes;
}
