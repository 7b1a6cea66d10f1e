import type { SessionId } from '../base/ids.ts';
import { TestPartition } from './test-partition.ts';
import type { TestTask } from './test-requests.ts';

/** A partition with one task, number 1, that a worker holds. */
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

/** Lets time pass, and what is due by then happen. */
export function passTime(partition: TestPartition, ms: number): void {
  partition.now += ms;
  partition.advance();
}
