import { Partition, RecordWriter } from '@sluice/core';
import type { ProjectedBatch } from '../../packages/server/src/projection/projector-parts.ts';
import {
  attachRequest,
  LIMITS,
  leaseOf,
  submitRequest,
  successRequest,
  UTF8,
} from '../core/requests.ts';

const BATCH = 100;
const SESSION = 's';

export interface LogOptions {
  readonly tasks: number;
  /** Maximum number of tasks that wait for a worker. */
  readonly depth: number;
  readonly startAt: number;
}

/**
 * The log of a server on which tasks are submitted and finished in batches of a hundred, one batch
 * of each per millisecond.
 */
export function* madeLog({ tasks, depth, startAt }: LogOptions): Generator<ProjectedBatch> {
  const partition = new Partition({ partition: 0, limits: LIMITS, utf8: UTF8 });
  const writer = new RecordWriter(UTF8);
  let now = startAt;
  let firstRecord = 0;
  const leases: string[] = [];
  const batchOf = (command: object): ProjectedBatch => {
    writer.reset();
    partition.execute({ ...command, now } as Parameters<Partition['execute']>[0], writer);
    for (const slot of partition.outputs.pushSlots) leases.push(leaseOf(partition.state, slot));
    const { recordCount } = writer;
    const batch = { firstRecord, recordCount, bytes: writer.bytes.slice(0, writer.length) };
    firstRecord += recordCount;
    return batch;
  };

  yield batchOf(attachRequest(SESSION, BATCH));
  for (let sent = 0, done = 0; done < tasks; now += 1) {
    if (sent < tasks && sent - done < depth) {
      yield batchOf(submitRequest(BATCH));
      sent += BATCH;
    }
    if (sent < tasks && sent < depth) continue;
    const ended = leases.splice(0);
    yield batchOf(successRequest(SESSION, ended));
    done += ended.length;
  }
}
