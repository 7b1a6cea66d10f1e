/** Blobs that hold payloads of tasks and runs. */
import { blobOf, namespaceOf, taskTypeOf } from '@sluice/core';
import { blobsInText } from '../../base/exec-envelope.ts';
import { blobName } from '../../blobs/blob-files.ts';
import { UsualTask } from '../records/usual-task.ts';
import { blobsNamedByRun, isRun } from '../runs/run-record.ts';
import type { WrittenRecord } from './stored-row.ts';

/** Names of the blobs that a task or run names. */
export function blobsNamedBy(record: WrittenRecord): string[] {
  if (isRun(record)) return blobsNamedByRun(record);
  const names = blobsOfPayloads(record);
  if (record instanceof UsualTask) return names;
  const { queue } = record;
  for (const { output } of record.attempts) look(queue, output, names);
  for (const [, , , , , , inputBefore = ''] of record.changes) look(queue, inputBefore, names);
  return names;
}

/** Those that its input and its result name. */
export function blobsOfPayloads({ queue, input, result }: Payloads): string[] {
  const names: string[] = [];
  look(queue, input, names);
  look(queue, result, names);
  return names;
}

type Payloads = Readonly<Record<'queue' | 'input' | 'result', string>>;

function look(queue: string, payload: string, names: string[]): void {
  const sha256 = blobOf(payload);
  if (sha256 !== undefined) names.push(blobName({ namespace: namespaceOf(queue), sha256 }));
  for (const inside of blobsInText(taskTypeOf(queue), payload)) {
    names.push(blobName({ namespace: namespaceOf(queue), sha256: inside }));
  }
}
