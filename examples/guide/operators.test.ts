import { defineTask, PermanentFailure } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import {
  cancelAllOf,
  copyChanges,
  correct,
  failuresOf,
  nextPage,
  runAgain,
  type Store,
  whilePaused,
} from './operators.ts';
import { transcode } from './transcode.ts';

const DAY_MS = 86_400_000;

let isRepaired = false;

const charge = defineTask({
  type: 'charge',
  run: () => {
    if (!isRepaired) throw new PermanentFailure('card declined');
    return 'charged';
  },
});

test('failures are found, repaired and run again', async () => {
  isRepaired = false;
  const sluice = new TestSluice([charge]);
  const since = sluice.now;
  const task = await sluice.submit(charge, null, { tags: { customer: 'ada' } });
  await task.wait();

  const failures = await failuresOf(sluice, 'ada', since);
  isRepaired = true;
  const count = await runAgain(sluice, 'charge');

  expect(failures).toEqual([`${task.id} charge: card declined`]);
  expect(await failuresOf(sluice, 'bob', since)).toEqual([]);
  expect(count).toBe(1);
  expect(await task.result()).toBe('charged');
});

test('a dead letter gets a good input', async () => {
  const mail = defineTask({
    type: 'mail',
    run: ({ to }: { to: string }) => {
      if (!to.includes('@')) throw new PermanentFailure('no such address');
      return `sent to ${to}`;
    },
  });
  const sluice = new TestSluice([mail]);
  const task = await sluice.submit(mail, { to: 'nobody' });
  await task.wait();

  await correct(sluice, task.id, { to: 'ada@example.com' });

  expect(await task.result()).toBe('sent to ada@example.com');
});

test('a list has pages', async () => {
  const sluice = new TestSluice([transcode]);
  const inputs = Array.from({ length: 30 }, (_, n) => ({ url: `${n}`, height: 1 }));
  await sluice.submitMany(transcode, inputs, { delayMs: DAY_MS });

  const first = await nextPage(sluice, null);
  const second = await nextPage(sluice, first.nextCursor);

  expect([first.items.length, second.items.length]).toEqual([20, 10]);
  expect(second.nextCursor).toBeNull();
});

test('all tasks of a customer are cancelled', async () => {
  const sluice = new TestSluice([transcode]);
  const options = { tags: { customer: 'ada' }, delayMs: DAY_MS };
  const task = await sluice.submit(transcode, { url: 'a', height: 1 }, options);

  expect(await cancelAllOf(sluice, 'ada')).toBe('1 open, 1 cancelled, 0 told to stop');
  expect((await task.get()).state).toBe('cancelled');
});

test('nothing starts while a queue is paused', async () => {
  const sluice = new TestSluice([transcode]);

  await whilePaused(sluice, 'transcode', async () => {
    const task = await sluice.submit(transcode, { url: 'a', height: 1 });
    expect((await task.get()).state).toBe('queued');
  });

  const { items } = await sluice.queues.page();
  expect(items).toMatchObject([{ type: 'transcode', paused: false, depth: 0 }]);
});

test('every change is copied, and a gap is noticed', async () => {
  const sluice = new TestSluice([transcode]);
  const controller = new AbortController();
  const written: string[] = [];
  let place: string | null = null;
  const store: Store = {
    load: async () => place,
    save: async (lastEventId) => {
      place = lastEventId;
    },
    write: async (_, state) => {
      written.push(state);
      if (state === 'succeeded') controller.abort(new Error('seen'));
    },
    readAllAgain: async () => {
      written.push('gap');
    },
  };
  const copying = copyChanges(sluice, store, controller.signal);
  await store.load();

  await (await sluice.submit(transcode, { url: 'a', height: 1 })).result();

  await expect(copying).rejects.toThrow('seen');
  expect(written).toEqual(['queued', 'leased', 'running', 'succeeded']);
  place = 'of another server';
  await expect(copyChanges(sluice, store, AbortSignal.timeout(1))).rejects.toThrow();
  expect(written[4]).toBe('gap');
});
