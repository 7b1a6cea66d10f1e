import { expect, expectTypeOf, test } from 'vitest';
import type { ClientTaskHandle } from '../client/task-handle.ts';
import type { Sluice } from '../node/sluice.ts';
import { defineTask } from '../task/define-task.ts';
import type { TaskContext } from '../task/task-context.ts';
import type { TaskHandle } from '../task/task-handle.ts';
import { RecordedSubmits } from '../testing/recorded-submits.ts';
import { ChildSubmits } from './child-submits.ts';

const resize = defineTask({ type: 'resize', priority: 6, run: (width: number) => `${width}px` });

function childrenOf(parentId: string) {
  const recorded = new RecordedSubmits();
  const { signal } = new AbortController();
  return { recorded, children: new ChildSubmits(parentId, recorded.submits, () => signal) };
}

test('waiting for a child ends with the attempt', async () => {
  const ended = new AbortController();
  const given: unknown[] = [];
  const handle = {
    id: 't_8',
    result: (options: unknown) => Promise.resolve(given.push(options)),
    wait: (options: unknown) => Promise.resolve(given.push(options)),
  };
  const submits = { submit: () => Promise.resolve(handle) } as never;
  const child = await new ChildSubmits('t_7', submits, () => ended.signal).submit('a', 1);
  const other = new AbortController().signal;

  await child.result();
  await child.wait({ timeoutMs: 5 });
  await child.result({ signal: other });

  expect(child.id).toBe('t_8');
  expect(given).toEqual([
    { signal: ended.signal },
    { signal: ended.signal, timeoutMs: 5 },
    { signal: other },
  ]);
});

test('children have their parent, and keys from the number of the call', async () => {
  const { recorded, children } = childrenOf('t_7');

  await children.submit(resize, 100);
  await children.submitMany(resize, [200, 300], { tags: { size: 'large' } });
  await children.submit('other', null, { delayMs: 5 });

  expect(recorded.bodies).toEqual([
    { type: 'resize', priority: 6, input: 100, parentId: 't_7', dedupeKey: 'child.t_7.1' },
    {
      ...{ type: 'resize', priority: 6, input: 200, tags: { size: 'large' } },
      ...{ parentId: 't_7', dedupeKey: 'child.t_7.2.0' },
    },
    {
      ...{ type: 'resize', priority: 6, input: 300, tags: { size: 'large' } },
      ...{ parentId: 't_7', dedupeKey: 'child.t_7.2.1' },
    },
    { type: 'other', input: null, delayMs: 5, parentId: 't_7', dedupeKey: 'child.t_7.3' },
  ]);
});

test('the same calls in the same order get the same keys (children.found-again)', async () => {
  const attempts = [childrenOf('t_7'), childrenOf('t_7')];

  for (const { children } of attempts) {
    await Promise.all([
      children.submit(resize, 1),
      children.submitMany(resize, [2, 3], (_, index) => ({ priority: index })),
      children.submit(resize, 4),
    ]);
  }

  expect(attempts[1].recorded.bodies).toEqual(attempts[0].recorded.bodies);
});

test('a key of the caller is used, and counts as a call', async () => {
  const { recorded, children } = childrenOf('t_7');

  await children.submit(resize, 1, { dedupeKey: 'mine', dedupeWindowMs: 5000 });
  await children.submitMany(resize, [2, 3], (input) => (input === 2 ? { dedupeKey: 'two' } : {}));

  expect(recorded.bodies.map(({ dedupeKey }) => dedupeKey)).toEqual([
    'mine',
    'two',
    'child.t_7.2.1',
  ]);
  expect(recorded.bodies[0].dedupeWindowMs).toBe(5000);
});

test('a bad argument rejects the promise', async () => {
  const { children } = childrenOf('t_7');

  await expect(children.submit(resize, 1, null as never)).rejects.toThrow(TypeError);
  await expect(children.submitMany(resize, [1], null as never)).rejects.toThrow(TypeError);
  await expect(children.submitMany(resize, null as never)).rejects.toThrow(TypeError);
});

test('the longest key fits', async () => {
  const { recorded, children } = childrenOf('x'.repeat(64));

  await children.submitMany(resize, Array(100_001).fill(0));

  const longest = recorded.bodies.at(-1)?.dedupeKey ?? '';
  expect(longest.length).toBeLessThanOrEqual(256);
});

test('a handler has the same submits as a client, and the same handles', () => {
  expectTypeOf<TaskContext['submit']>().toEqualTypeOf<Sluice['submit']>();
  expectTypeOf<TaskContext['submitMany']>().toEqualTypeOf<Sluice['submitMany']>();
  expectTypeOf<keyof TaskHandle>().toEqualTypeOf<keyof ClientTaskHandle>();
});
