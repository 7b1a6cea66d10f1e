import type { TestPartition } from '../test-partition.ts';
import { TestRuns } from './test-runs.ts';

/** A run that is cancelled while a worker holds its task, and then leaves memory. */
export function cancelledRun(partition: TestPartition): void {
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  const tasks = [
    { name: 'step', taskReferenceName: 'one' },
    { name: 'step', taskReferenceName: 'two' },
  ];
  runs.register('flow', { tasks });
  runs.cancel(runs.begin('flow'));
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  partition.detach(session);
  partition.operate({ type: 'delete_workflow', name: 'flow', version: 1 });
  // A submit makes room.
  partition.submit({});
}
