import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvariantError } from '../base/invariant.ts';
import { Interner } from './interner.ts';

test('a value is parsed once, found again, and gone with its last reference', () => {
  const parsed: string[] = [];
  const interner = new Interner((text) => {
    parsed.push(text);
    return text.length;
  });
  const first = interner.hold('abc');

  expect(interner.hold('abc')).toBe(first);
  expect(interner.at(first)).toBe(3);
  expect(interner.textAt(first)).toBe('abc');
  expect(parsed).toEqual(['', 'abc']);

  interner.release(first);
  expect(interner.size).toBe(2);
  interner.release(first);
  expect(interner.size).toBe(1);
});

test('the default stays, however often it is let go', () => {
  const interner = new Interner((text) => text);
  const held = interner.hold('');

  interner.release(held);
  interner.release(held);

  expect([held, interner.hold(''), interner.size]).toEqual([0, 0, 1]);
});

test('a value that is let go more often than it was held breaks an invariant', () => {
  const interner = new Interner((text) => text);
  const held = interner.hold('a');
  interner.release(held);

  expect(() => interner.release(held)).toThrow(InvariantError);
});

test('values never share a number while both are held', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(6)), { maxLength: 60 }), (steps) => {
      const interner = new Interner((text) => text);
      const held: { text: string; index: number }[] = [];
      for (const [isHold, choice] of steps) {
        const text = `v${choice}`;
        if (isHold) held.push({ text, index: interner.hold(text) });
        else {
          const at = held.findIndex((each) => each.text === text);
          if (at >= 0) interner.release(held.splice(at, 1)[0].index);
        }
        for (const each of held) expect(interner.at(each.index)).toBe(each.text);
        expect(interner.size).toBe(1 + new Set(held.map((each) => each.text)).size);
      }
    }),
  );
});

test('a text that nobody holds any more is gone, also from memory', () => {
  const interner = new Interner((text) => text);
  const held = interner.hold('a secret');

  interner.release(held);

  expect([interner.textAt(held), interner.at(held), interner.bytes]).toEqual(['', '', 0]);
});
