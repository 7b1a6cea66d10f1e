import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonText, utf8Bytes } from './json-text.ts';

test('the bytes of any JSON text are counted as an encoder would', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = JSON.stringify(value);

      expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test('nothing at all is null', () => {
  expect(jsonText(undefined)).toEqual({ text: 'null' });
});

test('what has no JSON says why', () => {
  const cycle: { self?: object } = {};
  cycle.self = cycle;

  expect(jsonText(cycle)).toEqual({ problem: expect.stringContaining('circular') });
  const thrower = {
    toJSON: () => {
      throw 'no';
    },
  };
  expect(jsonText(thrower)).toEqual({ problem: 'no' });
});
