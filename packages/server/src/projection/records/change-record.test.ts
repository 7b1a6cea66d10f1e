import { expect, test } from 'vitest';
import { addChange, type ChangeRecord, keepInput } from './change-record.ts';

test('a change keeps the input that it replaced; of very many only the newest are kept', () => {
  const changes: ChangeRecord[] = [];
  for (let n = 0; n < 12; n++) {
    addChange(changes, [n, 6, 2, 0, 0, '']);
    keepInput(changes, `"input ${n}"`);
    addChange(changes, [n, 2, 6, 0, 0, '']);
  }

  const kept = changes.flatMap(([, , , , , , inputBefore]) => inputBefore ?? []);

  expect(kept).toEqual(Array.from({ length: 10 }, (_, n) => `"input ${n + 2}"`));
  expect(changes).toHaveLength(24);
});
