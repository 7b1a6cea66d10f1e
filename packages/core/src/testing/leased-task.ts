import type { SessionId } from '../base/ids.ts';
import { TestPartition } from './test-partition.ts';
import type { TestTask } from './test-requests.ts';

/** A partition with one leased task, number 1. */
export function leasedTask(task: TestTask = {}): {
  partition: TestPartition;
  session: SessionId;
  connection: number;
  lease: string;
} {
  const partition = new TestPartition();
  const { session, connection } = partition.attach();
  partition.submit(task);
  const [lease] = partition.leasesOf(session);
  return { partition, session, connection, lease };
}

/** Advances the clock and fires what is due. */
export function passTime(partition: TestPartition, ms: number): void {
  partition.now += ms;
  partition.advance();
}
