import { DEFAULT_NAMESPACE } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import type { Engine } from '@sluice/engine';
import { beforeEach, expect, test } from 'vitest';
import type { Admission } from '../limits/admission.ts';
import type { Projection } from '../projection/projection.ts';
import { TaskArchive } from './task-archive.ts';

/** In JSON it looks like a task in its second attempt. */
const MISLEADING = '{"attempt":2,"attempts":0}';

let partition: TestPartition;
/** Queries that the projection got. */
let asked: string[];
let archive: TaskArchive;

beforeEach(() => {
  partition = new TestPartition();
  asked = [];
  const readShown = async (view: (...seen: unknown[]) => unknown) => {
    return view(partition.state, { progressOf: () => undefined }, { task: () => undefined });
  };
  const earlier = { attempt: 1, worker: 'earlier', leasedAt: 1, startedAt: 1, endedAt: 2 };
  const stored = { ...earlier, outcome: 'failed', error: '{"message":"no"}', output: '' };
  const projection = {
    read: async ({ form }: { form: string }) => {
      asked.push(form);
      return [JSON.stringify([stored])];
    },
  };
  archive = new TaskArchive({
    engine: { readShown, position: 0 } as unknown as Engine,
    admission: { read: () => undefined } as unknown as Admission,
    projection: projection as unknown as Projection,
    clock: () => 0,
  });
});

async function attempts(): Promise<unknown> {
  const json = await archive.one(DEFAULT_NAMESPACE, partition.id(1));
  return (JSON.parse(json) as { attempts: { worker: string }[] }).attempts;
}

test('an input that looks like a later attempt does not make a task one', async () => {
  partition.submit({ input: MISLEADING });
  partition.attach();

  expect(await attempts()).toHaveLength(1);
  expect(asked).toEqual([]);
});

test('a task in a later attempt shows the earlier ones', async () => {
  partition.submit({ input: MISLEADING, retry: { delaysMs: [0] } });
  const { session } = partition.attach();
  const [lease] = partition.leasesOf(session);
  partition.report(session, { kind: 'failed', lease });
  partition.now += 10;
  partition.advance();

  expect(await attempts()).toMatchObject([{ worker: 'earlier' }, { attempt: 2 }]);
  expect(asked).toEqual(['attempts']);
});
