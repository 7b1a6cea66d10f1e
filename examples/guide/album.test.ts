import { defineTask } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { makeAlbum, resize } from './album.ts';

test('an album is made of its photos', async () => {
  const sluice = new TestSluice([makeAlbum, resize]);

  const task = await sluice.submit(makeAlbum, { photos: ['a', 'b'] });

  expect(await task.result()).toEqual({
    cover: 'a-2400.jpg',
    pages: ['a-1200.jpg', 'b-1200.jpg'],
  });
});

test('a photo that is resized at its second attempt is resized once', async () => {
  const resized: string[] = [];
  const flaky = defineTask({
    ...resize,
    run(input: { photo: string; width: number }, { attempt }) {
      if (input.photo === 'b' && attempt === 1) throw new Error('no memory');
      resized.push(`${input.photo}-${input.width}`);
      return `${input.photo}-${input.width}.jpg`;
    },
  });
  const sluice = new TestSluice([makeAlbum, flaky]);

  const task = await sluice.submit(makeAlbum, { photos: ['a', 'b'] });
  await task.result();

  expect(resized.sort()).toEqual(['a-1200', 'a-2400', 'b-1200']);
});
