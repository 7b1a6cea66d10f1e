import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RenewedMap } from './renewed-map.ts';

const keys = fc.integer({ min: 0, max: 20 });
const steps = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key: keys }),
  fc.record({ kind: fc.constant('delete' as const), key: keys }),
);

test('it is a map, whenever it was renewed', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 3000, size: 'max' }), (sequence) => {
      const renewed = new RenewedMap<number, number>();
      const plain = new Map<number, number>();
      sequence.forEach(({ kind, key }, value) => {
        if (kind === 'set') {
          renewed.set(key, value);
          plain.set(key, value);
        } else {
          expect(renewed.delete(key)).toBe(plain.delete(key));
        }
        expect([renewed.size, renewed.has(key), renewed.get(key)]).toEqual([
          plain.size,
          plain.has(key),
          plain.get(key),
        ]);
      });
      expect([...renewed.entries()]).toEqual([...plain.entries()]);
      expect([...renewed.keys()]).toEqual([...plain.keys()]);
      expect([...renewed.values()]).toEqual([...plain.values()]);
    }),
    { numRuns: 30 },
  );
});

test('whoever goes through it may delete what he has', () => {
  const map = new RenewedMap<number, string>();
  for (let key = 0; key < 1200; key++) map.set(key, `${key}`);
  const seen: number[] = [];
  for (const [key] of map.entries()) {
    seen.push(key);
    map.delete(key);
  }

  expect(seen).toEqual(Array.from({ length: 1200 }, (_, key) => key));
  expect(map.size).toBe(0);
});
