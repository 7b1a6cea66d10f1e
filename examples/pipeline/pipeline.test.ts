import { defineTask, type RunHandle } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { beforeEach, expect, test } from 'vitest';
import { publishText, translateText, twoSteps } from './pipeline.ts';
import { assemble, publish, split, translate } from './tasks.ts';

let sluice: TestSluice;

beforeEach(() => {
  sluice = new TestSluice([split, translate, assemble, publish]);
});

test('two steps run one after the other', async () => {
  const run = await sluice.start(twoSteps, { text: 'hello' });

  expect(await run.result()).toEqual({ url: 'https://example.com/5' });
});

test('chunks are translated side by side and put together in their order', async () => {
  const run = await sluice.start(translateText, { text: 'one\n\ntwo\n\nthree' });

  expect(await run.result()).toEqual({ text: 'ONE\n\nTWO\n\nTHREE' });
});

test('a chunk that fails is tried again, and the others are not', async () => {
  const seen: string[] = [];
  const flaky = defineTask({
    ...translate,
    run({ text }: { text: string }, { attempt }) {
      seen.push(text);
      if (text === 'two' && attempt < 3) throw new Error('the service does not answer');
      return { text };
    },
  });
  sluice = new TestSluice([split, flaky, assemble, publish]);

  const run = await sluice.start(translateText, { text: 'one\n\ntwo' });

  expect(await run.result()).toEqual({ text: 'one\n\ntwo' });
  expect(seen.sort()).toEqual(['one', 'two', 'two', 'two']);
});

test('a chunk without words fails the run, with the chunk and the reason', async () => {
  const run = await sluice.start(translateText, { text: 'one\n\n ' });

  await expect(run.result()).rejects.toThrow('_translate_1');
});

/** Waits until the run asks, and answers. */
async function review(run: RunHandle, approved: boolean): Promise<void> {
  await run.wait({ timeoutMs: 1000 });
  await run.complete('review', { approved });
}

test('a text is published after its review', async () => {
  const run = await sluice.start(publishText, { text: 'one\n\ntwo' });
  await review(run, true);

  expect(await run.result()).toEqual({ url: 'https://example.com/8' });
});

test('a text that was declined is not published', async () => {
  const run = await sluice.start(publishText, { text: 'one' });
  await review(run, false);

  await expect(run.result()).rejects.toThrow('the translation was declined');
});
