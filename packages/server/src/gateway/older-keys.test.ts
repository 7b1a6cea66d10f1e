import type { Command } from '@sluice/core';
import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { Gateway, type GatewayOptions } from './gateway.ts';

const TASK = { type: 'hello', dedupeKey: 'k', input: { a: 1, b: [2] }, priority: 4 };

/** What version 0.1 stored for this task in the namespace `default`. */
const WORDS = [
  ...[2319268667, 85781593, 2845081305, 2666461680],
  ...[285870534, 2398607370, 927057656, 1238460569],
];

/** A gateway to a partition with that key. */
function upgraded(): Gateway {
  const partition = new TestPartition();
  partition.operate({
    type: 'submit_tasks',
    tasks: [{ type: 'hello', priority: 4 }],
    inputs: new Uint8Array(),
    inputEnds: [0],
    dedupe: { words: Uint32Array.from(WORDS), windowsMs: [5000] },
  } as never);
  const { state } = partition;
  const engine = {
    execute: async (command: Command, render: (reply: object, now: typeof state) => unknown) =>
      render(partition.operate(command as never) as object, state),
  };
  const nothing = () => undefined;
  return new Gateway({
    engine,
    admission: { command: nothing },
    rates: { submitted: nothing },
    clock: () => 0,
    monotonic: () => 0,
  } as unknown as GatewayOptions);
}

test('a key of version 0.1 stands for the whole request, also after the upgrade', async () => {
  const gateway = upgraded();

  const same = await gateway.submit('default', { ...TASK, dedupeWindowMs: 9000 });
  const again = await gateway.submit('default', TASK);
  const many = await gateway.submit('default', [TASK, { ...TASK, dedupeKey: 'new' }]);

  expect([same.isNew, again.isNew]).toEqual([false, false]);
  expect(again.firstId).toBe(same.firstId);
  expect(JSON.parse(String(many.json)).items).toMatchObject([
    { id: same.firstId, deduplicated: true },
    { deduplicated: false },
  ]);
  const fresh = { ...TASK, dedupeKey: 'new', priority: 5 };
  expect((await gateway.submit('default', fresh)).isNew).toBe(false);
});

test('another request with such a key is refused, unless it takes what exists', async () => {
  const gateway = upgraded();
  const other = { ...TASK, input: 'other' };

  await expect(gateway.submit('default', other)).rejects.toMatchObject({ code: 'dedupe_mismatch' });
  const existing = await gateway.submit('default', { ...other, onDuplicate: 'existing' });
  expect(existing.isNew).toBe(false);
});
