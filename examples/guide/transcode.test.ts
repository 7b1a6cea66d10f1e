import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { thumbnail, transcode } from './transcode.ts';

test('a video is transcoded, and says how far it is', async () => {
  const sluice = new TestSluice([transcode, thumbnail]);

  const task = await sluice.submit(transcode, { url: 'a', height: 720 });

  expect(await task.result()).toEqual({ url: 'a.720.mp4' });
  expect(sluice.logOf(task.id)).toEqual(['a is done']);
});
