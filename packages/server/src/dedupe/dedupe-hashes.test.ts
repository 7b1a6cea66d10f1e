import type { TaskRequest } from '@sluice/protocol';
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

test('dedupe: compared is the input, whatever its order and the other fields', () => {
  const other = { input: { b: [2], a: 1 }, dedupeWindowMs: 5000, dedupeKey: 'k', type: 'hello' };

  expect(inputOf(other)).toBe(inputOf(TASK));
  expect(inputOf({ ...TASK, priority: 4 })).toBe(inputOf(TASK));
  expect(inputOf({ ...TASK, input: { a: 1, b: [2, 2] } })).not.toBe(inputOf(TASK));
});

test('dedupe: no input is null, and a blob is no input', () => {
  const inputBlob = 'a'.repeat(64);
  const [type, dedupeKey] = ['hello', 'k'];
  const hashes = [
    inputOf({ type, dedupeKey, input: null }),
    inputOf({ type, dedupeKey, inputBlob }),
    inputOf({ type, dedupeKey, input: { inputBlob } }),
    inputOf({ type, dedupeKey, input: [] }),
    inputOf({ type, dedupeKey, input: [null] }),
  ];

  expect(new Set(hashes).size).toBe(5);
  expect(inputOf({ type, dedupeKey })).toBe(hashes[0]);
});

test('dedupe: what happens to another input is passed on when it is said', () => {
  const said = (['refuse', 'existing', 'replace'] as const).map((onDuplicate) => {
    return { ...TASK, onDuplicate };
  });

  expect(dedupeClaims('default', [...said, TASK])?.onDuplicate).toEqual([0, 1, 2, 0]);
  expect(dedupeClaims('default', [TASK])?.onDuplicate).toBeUndefined();
});

test('dedupe: fields of any name are part of the input', () => {
  const bodies = ['{"__proto__":1}', '{"__proto__":2}', '{}', '{"constructor":1}'];

  const hashes = bodies.map((text) => inputOf({ ...TASK, input: JSON.parse(text) }));

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

function inputOf(task: TaskRequest): string | undefined {
  return dedupeClaims('default', [task])?.words.subarray(4).join();
}
