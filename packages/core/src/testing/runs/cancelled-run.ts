import type { TestPartition } from '../test-partition.ts';
import { TestRuns } from './test-runs.ts';

/** A run that waits, is paused, begins a loop, is cancelled during a task, and leaves memory. */
export function cancelledRun(partition: TestPartition): void {
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  const loopOver = [{ name: 'step', taskReferenceName: 'one' }];
  const tasks = [
    { taskReferenceName: 'wait', type: 'WAIT', inputParameters: { duration: '1h' } },
    { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1, 2], loopOver },
    { name: 'step', taskReferenceName: 'two' },
  ];
  runs.register('flow', { tasks, timeoutSeconds: 7200 });
  const run = runs.begin('flow');
  runs.pause(run, true);
  runs.pause(run, false);
  runs.end(run, 'wait');
  runs.cancel(run);
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  partition.detach(session);
  partition.operate({ type: 'delete_workflow', name: 'flow', version: 1 });
  // A submit makes room.
  partition.submit({});
}
