import type { RecordDelivery } from '../../commands/callbacks/record-delivery.ts';
import type { ReadmitRun } from '../../commands/runs/readmit-run.ts';
import type { OperateStep } from '../../commands/steps/operate-step.ts';
import type { TestPartition } from '../test-partition.ts';
import { TestRuns } from './test-runs.ts';

/**
 * A run that waits, is paused, starts another one, loops, forks, is cancelled during a task, and
 * leaves memory.
 */
export function cancelledRun(partition: TestPartition): void {
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  const loopOver = [{ name: 'step', taskReferenceName: 'one' }];
  const inputParameters = { forkTaskInputs: [1, 2], forkTaskName: 'step' };
  const noop = { tasks: [{ taskReferenceName: 'noop', type: 'NOOP' }] };
  const ofOther = { subWorkflowParam: { name: 'other', workflowDefinition: noop } };
  const tasks = [
    { taskReferenceName: 'wait', type: 'WAIT', inputParameters: { duration: '1h' } },
    { ...ofOther, taskReferenceName: 'other', type: 'SUB_WORKFLOW' },
    { taskReferenceName: 'loop', type: 'DO_WHILE', items: [1], loopOver },
    { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters },
    { taskReferenceName: 'join', type: 'JOIN' },
    { name: 'step', taskReferenceName: 'two' },
  ];
  runs.register('flow', { tasks, timeoutSeconds: 7200 });
  const run = runs.begin('flow');
  runs.pause(run, true);
  runs.pause(run, false);
  runs.end(run, 'wait');
  const [ended] = partition.leasesOf(session);
  partition.report(session, { lease: ended, kind: 'succeeded', payload: '1' });
  runs.cancel(run);
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: '1' });
  partition.detach(session);
  partition.operate({ type: 'delete_workflow', name: 'flow', version: 1 });
  // A submit makes room.
  partition.submit({});
}

/**
 * A run that forks over a value in a blob, ends, goes on, and is cancelled. Memory must have room
 * for ended runs.
 */
export function rerunRun(partition: TestPartition): void {
  const runs = new TestRuns(partition);
  const inputParameters = { forkTaskInputs: [1, '${big.output.n}'], forkTaskName: 'nobody' };
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  runs.register('again', {
    tasks: [
      { name: 'step', taskReferenceName: 'big' },
      { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters },
      { taskReferenceName: 'join', type: 'JOIN' },
    ],
    callback: { url: 'http://127.0.0.1:9/' },
    timeoutSeconds: 1,
    timeoutPolicy: 'ALERT_ONLY',
  });
  const run = runs.begin('again');
  runs.end(run, 'join', 'skip');
  partition.now += 1000;
  partition.advance();
  const [lease] = partition.leasesOf(session);
  partition.report(session, { lease, kind: 'succeeded', payload: `@${'ab'.repeat(32)}` });
  answerOpen(partition);
  runs.cancel(run);
  runs.revive(run, 'rerun', 'fork');
  answerOpen(partition);
  runs.cancel(run);
  partition.detach(session);
  for (const { number: delivery } of [...partition.state.outbox.pending()]) {
    const tried = { delivery, failure: 0, status: 200, durationMs: 1, seed: 1 };
    partition.operate<RecordDelivery>({ type: 'record_delivery', ...tried });
  }
  endWithKey(partition, runs);
  readmitRun(partition, runs);
  partition.operate({ type: 'delete_workflow', name: 'again', version: 1 });
}

/** A call with a key ends a step. */
function endWithKey(partition: TestPartition, runs: TestRuns): void {
  runs.register('asks', { tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }] });
  const id = runs.id(runs.begin('asks'));
  const said = { operation: 'complete', payload: new Uint8Array(0), message: '' } as const;
  partition.operate<OperateStep>({ type: 'operate_step', id, reference: 'ask', ...said, key: 5 });
}

/** A run that left memory begins anew. */
function readmitRun(partition: TestPartition, runs: TestRuns): void {
  runs.register('gone', { tasks: [{ taskReferenceName: 'nothing', type: 'NOOP' }] });
  const id = runs.id(runs.begin('gone'));
  // Ended runs leave memory when there are too many of them.
  for (let n = 0; n < 20; n++) runs.begin('gone');
  partition.operate<ReadmitRun>({
    type: 'readmit_run',
    id,
    workflow: 'gone',
    version: 1,
    priority: 5,
    correlation: '',
    tags: '',
    input: new Uint8Array(0),
  });
}

/** Every value that is asked of a blob is 2. */
function answerOpen(partition: TestPartition): void {
  const [{ input, ...asked }] = partition.openEvaluations();
  const keys = JSON.parse(input) as string[];
  partition.evaluated([{ ...asked, values: keys.map((key) => ({ key, value: '2' })) }]);
}
