import { expect, test } from 'vitest';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { joined } from '../../testing/test-payloads.ts';
import type { StartRuns, StartRunsReply } from './start-runs.ts';

const MIB = 2 ** 20;

/** A definition with this many characters. */
function definitionOf(characters: number, reference = 'a'): object {
  const tasks = [{ name: 'step', taskReferenceName: reference }];
  return { tasks, description: 'x'.repeat(characters) };
}

/** Starts one run with each of the definitions, which need not be registered. */
function startInline(partition: TestPartition, ...definitions: object[]): StartRunsReply {
  const { bytes, ends } = joined(definitions.map(() => '{}'));
  return partition.operate<StartRuns>({
    type: 'start_runs',
    runs: definitions.map((each) => {
      const text = JSON.stringify(each);
      return { workflow: 'flow', version: 0, definition: { text, hash: text } };
    }),
    inputs: bytes,
    inputEnds: ends,
  });
}

test('definitions leave room for the steps of runs', () => {
  const partition = new TestPartition({ payloadBytesMax: 100_000 });
  const runs = new TestRuns(partition);
  const rejections: (string | undefined)[] = [];

  for (let n = 0; n < 20; n++) {
    rejections.push(runs.register(`flow${n}`, definitionOf(10_000)).rejection);
  }

  expect(rejections).toContain(undefined);
  expect(rejections.at(-1)).toBe('too_many_workflows');
  expect(partition.state.heldBytes).toBeLessThanOrEqual(90_000);
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  runs.begin('flow0');
  expect(partition.heldBy(session)).toHaveLength(1);
});

test('definitions that come with runs of one start must fit together', () => {
  const partition = new TestPartition({ payloadBytesMax: 1024 * MIB });
  const runs = new TestRuns(partition);
  for (let n = 0; n < 30; n++) runs.register(`flow${n}`, definitionOf(MIB));
  const [first, second] = [definitionOf(MIB, 'one'), definitionOf(MIB, 'two')];

  const both = startInline(partition, first, second);
  const one = startInline(partition, first);

  expect(both).toEqual({ rejection: 'too_many_workflows', at: 1, slots: [] });
  expect(one.rejection).toBeUndefined();
});
