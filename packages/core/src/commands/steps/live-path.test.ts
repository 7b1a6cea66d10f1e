import { expect, test } from 'vitest';
import { readEvents } from '../../events/read-events.ts';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';

interface Costs {
  readonly events: readonly string[];
  readonly bytes: number;
}

/** What is written to the log while a worker runs what `submit` begins. */
function costsOf(submit: (partition: TestPartition) => () => void): Costs {
  const partition = new TestPartition();
  const { session } = partition.attach({ types: ['work'] });
  const begin = submit(partition);
  const before = partition.log().length;
  begin();
  const [{ lease }] = partition.pushes;
  partition.report(session, { lease, kind: 'succeeded', payload: '"done"' });
  const batches = partition.log().slice(before);
  const events: string[] = [];
  for (const bytes of batches) {
    readEvents(bytes, testUtf8, ({ type }) => {
      if (type !== 'state_hashed') events.push(type);
    });
  }
  return { events, bytes: batches.reduce((sum, { length }) => sum + length, 0) };
}

test('a run of one SIMPLE step is a task and three events more', () => {
  const input = JSON.stringify({ text: 'x'.repeat(180) });

  const task = costsOf((partition) => () => partition.submit({ type: 'work', input }));
  const run = costsOf((partition) => {
    const runs = new TestRuns(partition);
    const inputParameters = { text: '${workflow.input.text}' };
    const step = { name: 'work', taskReferenceName: 'a', inputParameters };
    runs.register('flow', { tasks: [step], outputParameters: { given: '${a.output}' } });
    return () => runs.begin('flow', JSON.parse(input));
  });

  expect(task.events).toEqual(['task_submitted', 'attempt_leased', 'attempt_succeeded']);
  expect(run.events).toEqual([
    'run_started',
    'step_submitted',
    'attempt_leased',
    'attempt_succeeded',
    'step_ended',
    'run_ended',
  ]);
  // The input is written twice: that of the run, and that of its step.
  expect(run.bytes - task.bytes).toBeLessThan(input.length + 150);
});
