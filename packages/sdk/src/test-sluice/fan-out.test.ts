import { describe, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { TestSluice } from './test-sluice.ts';

const resize = defineTask({ type: 'resize', run: (width: number) => `${width}px` });

describe('children of a task', () => {
  test('know their parent', async () => {
    const album = defineTask({
      type: 'album',
      async run(widths: number[], { submit, submitMany }) {
        const cover = await submit(resize, 1000);
        const pages = await submitMany(resize, widths);
        return [cover.id, ...pages.map(({ id }) => id)];
      },
    });
    const sluice = new TestSluice([album, resize]);

    const parent = await sluice.submit(album, [1, 2]);
    const ids = await parent.result();

    const children = await Promise.all(ids.map((id) => sluice.task(id).get()));
    expect(children.map(({ parentId }) => parentId)).toEqual(Array(3).fill(parent.id));
    expect(children.map(({ input }) => input)).toEqual([1000, 1, 2]);
  });

  test('are found by a retried parent, and not made again (children.found-again)', async () => {
    const seen: { id: string; deduplicated: boolean }[][] = [];
    const album = defineTask({
      type: 'album',
      async run(_: null, { submit, submitMany, attempt }) {
        const first = await submit(resize, 1);
        const others = await submitMany(resize, [1, 1]);
        seen.push([first, ...others]);
        if (attempt < 3) throw new Error('after the submits');
        return Promise.all([first, ...others].map((child) => child.result()));
      },
    });
    const sluice = new TestSluice([album, resize]);

    const parent = await sluice.submit(album, null);

    expect(await parent.result()).toEqual(['1px', '1px', '1px']);
    const ids = seen.map((handles) => handles.map(({ id }) => id));
    expect(ids).toEqual([ids[0], ids[0], ids[0]]);
    expect(new Set(ids[0]).size).toBe(3);
    expect(seen.map((handles) => handles.map(({ deduplicated }) => deduplicated))).toEqual([
      [false, false, false],
      [true, true, true],
      [true, true, true],
    ]);
  });

  test('of two parents are not mixed up', async () => {
    const album = defineTask({
      type: 'album',
      run: async (_: null, { submit }) => (await submit(resize, 1)).id,
    });
    const sluice = new TestSluice([album, resize]);

    const parents = await sluice.submitMany(album, [null, null]);
    const [one, other] = await Promise.all(parents.map((parent) => parent.result()));

    expect(one).not.toBe(other);
  });

  test('that no server accepts fail the call, with the field', async () => {
    const album = defineTask({
      type: 'album',
      retry: { maxAttempts: 1 },
      run: async (_: null, { submit }) => submit(resize, 1, { priority: 9 }),
    });
    const sluice = new TestSluice([album, resize]);

    const parent = await sluice.submit(album, null);

    await expect(parent.result()).rejects.toThrow('the task is not valid: /priority');
  });
});
