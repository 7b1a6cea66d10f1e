import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonPlace } from '../base/json-place.ts';
import { inexactNumber, inexactPayload } from './exact-numbers.ts';

describe('a number comes back as it was sent, or is refused', () => {
  test.each([
    '0',
    '-0',
    '1.0',
    '9007199254740991',
    '9007199254740992',
    '-9007199254740994',
    '1152921504606847000',
    '100000000000000000000000000000',
    '123456789.12345678',
    '0.30000000000000004',
    '0.10000000000000001',
    '2.2204460492503131e-16',
    '1.7976931348623157e308',
    '1.7976931348623157E+308',
    '5e-324',
    '0e999',
    '0.000000000000000000000000000000000000000000000',
  ])('%s is kept', (number) => {
    expect(inexactNumber(number)).toBeUndefined();
  });

  test.each([
    '9007199254740993',
    '-9007199254740993',
    '1152921504606846977',
    '12345678901234567890',
    '100000000000000000000000000001',
    '9007199254740993.0',
    '0.1234567890123456789',
    '3.14159265358979323846',
    '1e400',
    '-1E400',
    '1e+309',
    '1e-400',
    '4e-324',
    '1.2e-323',
    `1${'0'.repeat(400)}`,
  ])('%s is not', (number) => {
    expect(inexactNumber(number)).toMatchObject({ path: '' });
  });
});

test.each([
  ['[1e400]', '/0'],
  ['{"a":[0,{"b/~":[1,2], "c":3, "b/~":[[], {}, 1e400]}]}', '/a/1/b~1~0/2'],
  ['{"a":"1e400, 1e400","b":{"1e400":1e400}}', '/b/1e400'],
  ['[ "\\"", "\\\\", 1 , 1e400 ]', '/3'],
  ['{"\\u0041":1e400}', '/A'],
  ['[[],{},[{}],"",1e400]', '/4'],
])('the first one in %s is named', (text, path) => {
  expect(inexactNumber(text)).toEqual({ path, number: '1e400' });
});

test.each([
  '"12345678901234567890"',
  '{"12345678901234567890":"1:12345678901234567890,"}',
  '["a 1e400", ",1e400,", "\\"1e400"]',
  '{"id":"8f14e450-1e40-4e12-8e99-5a1b2c3d4e5f","version":"1.2.3.4.5.6.7.8.9.10.11"}',
])('digits inside the texts of %s are none', (text) => {
  expect(inexactNumber(text)).toBeUndefined();
});

test.each([
  ['{"type":"a","input":{"n":1e400}}', '/input/n'],
  ['[{"type":"a"},{"type":"a","input":1e400}]', '/1/input'],
  ['{"reports":[{"lease":"l","kind":"succeeded","output":[1e400]}]}', '/reports/0/output/0'],
  ['{"name":"a","data":1e400}', '/data'],
  ['{"priority":1e400,"input":1e400}', '/input'],
])('the payload in %s is looked at', (text, path) => {
  expect(inexactPayload(text)?.path).toBe(path);
});

test('a fraction of ours may be rounded', () => {
  const report = '{"reports":[{"lease":"l","kind":"progress","fraction":0.33333333333333333333}]}';
  expect(inexactPayload(report)).toBeUndefined();
});

/** The number as a fraction of two integers, whatever its size. */
function ratio(number: string): [bigint, bigint] {
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const scale = Number(exponent) - fraction.length;
  const digits = BigInt(sign + whole + fraction);
  const power = 10n ** BigInt(Math.abs(scale));
  return scale < 0 ? [digits, power] : [digits * power, 1n];
}

function isSame(sent: string, kept: string): boolean {
  const [a, b] = [ratio(sent), ratio(kept)];
  return a[0] * b[1] === b[0] * a[1];
}

const DIGITS = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 22 });
const INTEGERS = DIGITS.map((digits) => digits.replace(/^0+(?=\d)/, ''));
const NUMBERS = fc
  .tuple(INTEGERS, fc.option(DIGITS), fc.option(fc.integer({ min: -330, max: 330 })))
  .map(([whole, fraction, exponent]) =>
    [whole, fraction === null ? '' : `.${fraction}`, exponent === null ? '' : `e${exponent}`].join(
      '',
    ),
  );

test('an integer that is taken comes back with every digit', () => {
  fc.assert(
    fc.property(INTEGERS, (number) => {
      const isKept = isSame(number, JSON.stringify(JSON.parse(number)));
      expect(inexactNumber(`[${number}]`) === undefined).toBe(isKept);
    }),
    { numRuns: 2000 },
  );
});

test('any other number that is taken is the double that it comes back as, to 17 digits', () => {
  fc.assert(
    fc.property(NUMBERS, (number) => {
      const kept = JSON.stringify(JSON.parse(number));
      if (kept === 'null') {
        expect(inexactNumber(number)).toBeDefined();
      } else if (isSame(number, kept)) {
        expect(inexactNumber(number)).toBeUndefined();
      } else if (inexactNumber(number) === undefined) {
        expect(isSame(number, JSON.parse(number).toPrecision(17))).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});

test('whatever else a text holds, the number in it is found where it is', () => {
  const values = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(values, fc.string(), values, (before, name, after) => {
      const text = `{"a":${JSON.stringify(before)},${JSON.stringify(name)}:[${JSON.stringify(
        after,
      )},12345678901234567890]}`;
      const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1');
      expect(inexactNumber(text)).toEqual({
        path: `/${pointer}/1`,
        number: '12345678901234567890',
      });
    }),
  );
});

test('of a very long number the beginning is shown', () => {
  expect(inexactNumber('1'.repeat(5_000_000))?.number).toHaveLength(61);
});

test('a name of many characters over many numbers is read once', () => {
  const numbers = Array.from({ length: 100_000 }, () => '9007199254740993').join(',');
  const text = `{"${'n'.repeat(2_000_000)}":[${numbers}]}`;
  const place = new JsonPlace(text);

  expect(inexactPayload(text, place)).toBeUndefined();
  expect(place.steps).toBeGreaterThan(text.length / 2);
  expect(place.steps).toBeLessThan(text.length * 2);
});
