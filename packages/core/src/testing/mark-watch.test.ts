import { expect, test } from 'vitest';
import { RecordWriter } from '../events/record-writer.ts';
import { Partition } from '../partition.ts';
import type { TaskTable } from '../state/task-table.ts';
import { MarkWatch } from './mark-watch.ts';
import { TestPartition } from './test-partition.ts';
import { testUtf8 } from './test-utf8.ts';

test('a change of a task that is not marked is found (engine.untouched)', () => {
  const { limits } = new TestPartition();
  const partition = new Partition({ partition: 0, limits, utf8: testUtf8 });
  const submit = () => {
    const request = { type: 'submit_tasks', namespace: 'default', tasks: [{ type: 'hello' }] };
    const inputs = { inputs: new Uint8Array(0), inputEnds: [0] };
    partition.execute({ ...request, ...inputs, now: 1 } as never, new RecordWriter(testUtf8));
  };

  let watch = MarkWatch.begin(partition, undefined);
  submit();
  const marked = watch.problems();
  watch = MarkWatch.begin(partition, watch);
  submit();
  (partition.state.tasks as unknown as TaskTable).priority[0] += 1;
  const unmarked = watch.problems();

  expect(marked).toEqual([]);
  expect(unmarked).toEqual(["engine.untouched: 'priority' of task 0 changed"]);
});
