import { expect, test } from 'vitest';
import { dedupeClaims } from './dedupe-hashes.ts';

const TASK = { type: 'hello', dedupeKey: 'k', input: { a: 1, b: [2] } };

test('dedupe: the scope of a key is namespace and type', () => {
  const keys = [
    keyOf('default', TASK),
    keyOf('other', TASK),
    keyOf('default', { ...TASK, type: 'bye' }),
    keyOf('default', { ...TASK, dedupeKey: 'l' }),
  ];

  expect(new Set(keys).size).toBe(4);
});

test('dedupe: compared is the body as sent, whatever its order, without dedupeWindowMs', () => {
  const other = { input: { b: [2], a: 1 }, dedupeWindowMs: 5000, dedupeKey: 'k', type: 'hello' };

  expect(bodyOf(other)).toBe(bodyOf(TASK));
  expect(bodyOf({ ...TASK, priority: 4 })).not.toBe(bodyOf(TASK));
  expect(bodyOf({ ...TASK, input: { a: 1, b: [2, 2] } })).not.toBe(bodyOf(TASK));
});

test('dedupe: fields of any name are part of the body', () => {
  const bodies = ['{"__proto__":1}', '{"__proto__":2}', '{}', '{"constructor":1}'];

  const hashes = bodies.map((text) => bodyOf({ ...TASK, input: JSON.parse(text) }));

  expect(new Set(hashes).size).toBe(4);
});

test('dedupe: the window is 24 hours unless it is said, and a task without a key has none', () => {
  const claims = dedupeClaims('default', [TASK, { ...TASK, dedupeWindowMs: 7 }, { type: 'hello' }]);

  expect(claims?.windowsMs).toEqual([24 * 60 * 60 * 1000, 7, 0]);
  expect(dedupeClaims('default', [{ type: 'hello' }])).toBeUndefined();
});

function keyOf(namespace: string, task: typeof TASK): string | undefined {
  return dedupeClaims(namespace, [task])?.words.subarray(0, 4).join();
}

function bodyOf(task: typeof TASK & { priority?: number }): string | undefined {
  return dedupeClaims('default', [task])?.words.subarray(4).join();
}
