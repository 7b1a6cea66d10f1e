import type { CreateAccessKey, RevokeAccessKey } from '@sluice/core';
import { MemoryLog, MemoryLogStore } from '@sluice/log';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import { beforeEach, expect, test } from 'vitest';
import { FencedError } from './engine-errors.ts';
import { executeOnce, type RestingPartition } from './execute-once.ts';
import { partitionOptions, TestEngine } from './testing/test-engine.ts';

let store: MemoryLogStore;

beforeEach(() => {
  store = new MemoryLogStore();
});

function resting(log = new MemoryLog(store)): RestingPartition {
  const snapshots = { positions: async () => [] } as unknown as RestingPartition['snapshots'];
  return { log, snapshots, partition: partitionOptions(), clock: () => 5000, nonce: 7 };
}

const CREATE = {
  type: 'create_access_key',
  namespace: 'default',
  id: 'k_1',
  hash: 'ab',
  key: { namespace: 'default', role: 'admin', name: '' },
} as const;

async function recordCount(): Promise<number> {
  return (await new MemoryLog(store).acquire()).tail;
}

test('a command on a log that rests is there for the server that starts next', async () => {
  const size = await executeOnce<CreateAccessKey, number>(resting(), CREATE, (_, state) => {
    return state.accessKeys.size;
  });

  const test = await TestEngine.start({ store });

  expect(size).toBe(1);
  expect(await test.engine.read(({ accessKeys }) => accessKeys.get('k_1')?.createdAt)).toBe(5000);
});

test('what happened before is known, and nothing else happens', async () => {
  const first = await TestEngine.start({ store });
  await first.submit('one');
  await first.engine.close();
  const before = await recordCount();

  const nextTask = await executeOnce<CreateAccessKey, number>(resting(), CREATE, (_, state) => {
    return state.nextTask;
  });

  expect(nextTask).toBe(2);
  expect(await recordCount()).toBe(before + 1);
});

test('a command that is refused leaves the log as it was', async () => {
  const revoke = { type: 'revoke_access_key', namespace: 'default', id: 'k_9' } as const;

  const refused = executeOnce<RevokeAccessKey, void>(resting(), revoke, ({ rejection }) => {
    throw new Error(rejection);
  });

  await expect(refused).rejects.toThrow('access_key_not_found');
  expect(await recordCount()).toBe(0);
});

test('what the disk does not take is an error, and so is a server in between', async () => {
  const full = new FaultyLog(new MemoryLog(store));
  full.append = async () => 'full';
  const fenced = new FaultyLog(new MemoryLog(store));
  fenced.append = async () => 'fenced';

  for (const [log, error] of [
    [full, 'the disk is full'],
    [fenced, FencedError],
  ] as const) {
    const source = { ...resting(), log };
    await expect(executeOnce(source, CREATE, () => undefined)).rejects.toThrow(error);
  }
});
