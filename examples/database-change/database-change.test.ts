import type { RunHandle } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { beforeEach, expect, test } from 'vitest';
import { shards } from './database.ts';
import { databaseChange } from './database-change.ts';
import { apply, backUp, prepare, rollBack, verify } from './tasks.ts';

const CHANGE = { column: 'email', shards: ['eu', 'us'] };

let sluice: TestSluice;

beforeEach(() => {
  sluice = new TestSluice([prepare, backUp, apply, verify, rollBack]);
  shards.clear();
  for (const shard of ['eu', 'us']) shards.set(shard, ['id']);
});

/** Waits until the run asks, and answers. Returns the question. */
async function answer(run: RunHandle, step: string, approved: boolean): Promise<unknown> {
  const { steps } = await run.wait({ timeoutMs: 1000 });
  const question = steps.find(({ reference }) => reference === step);
  await run.complete(step, { approved });
  return question?.input;
}

/** States of steps that have begun. */
async function story(run: RunHandle): Promise<Record<string, string>> {
  const { steps } = await run.get();
  const begun = steps.filter(({ state }) => state !== 'pending' && state !== 'skipped');
  return Object.fromEntries(begun.map(({ reference, state }) => [reference, state]));
}

test('every shard is changed after its approval', async () => {
  const run = await sluice.start(databaseChange, CHANGE);

  const first = await answer(run, 'approve__1', true);
  expect(shards.get('us')).toEqual(['id']);
  await answer(run, 'approve__2', true);

  expect(first).toEqual({ title: 'ALTER TABLE users ADD COLUMN email on eu?' });
  expect(await run.result()).toEqual({ statement: 'ALTER TABLE users ADD COLUMN email' });
  expect([...shards.values()]).toEqual([
    ['id', 'email'],
    ['id', 'email'],
  ]);
});

test('a change that a person declines is rolled back', async () => {
  const run = await sluice.start(databaseChange, CHANGE);

  await answer(run, 'approve__1', true);
  await answer(run, 'approve__2', false);

  await expect(run.result()).rejects.toThrow('not all shards were changed; restored');
  expect([...shards.values()]).toEqual([['id'], ['id']]);
  expect(await story(run)).toMatchObject({
    apply__1: 'succeeded',
    verify: 'completed_with_errors',
    'roll-back': 'succeeded',
  });
});

test('a change that fails is rolled back, and the other shards are not asked for', async () => {
  const run = await sluice.start(databaseChange, CHANGE);
  await run.wait({ timeoutMs: 1000 });
  // The shard is lost, and comes back only for the roll back.
  shards.delete('eu');

  await answer(run, 'approve__1', true);

  await expect(run.result()).rejects.toMatchObject({ status: 'failed' });
  expect([...shards.entries()].sort()).toEqual([
    ['eu', ['id']],
    ['us', ['id']],
  ]);
  const states = await story(run);
  expect(states).toMatchObject({ apply__1: 'completed_with_errors', 'roll-back': 'succeeded' });
  expect(states).not.toHaveProperty('approve__2');
});

test('a change that nobody approves for a week ends', async () => {
  const run = await sluice.start(databaseChange, CHANGE);

  await expect(run.result()).rejects.toMatchObject({ status: 'timed_out' });
});
