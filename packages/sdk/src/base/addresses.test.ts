import { expect, test } from 'vitest';
import { addressesOf, authorization } from './addresses.ts';

test('one address, a list with commas, and an array are the same', () => {
  const two = ['http://a:1', 'https://b/sluice'];

  expect(addressesOf('http://a:1/')).toEqual(['http://a:1']);
  expect(addressesOf('http://a:1/v1/')).toEqual(['http://a:1']);
  expect(addressesOf(' http://a:1 , https://b/sluice/,')).toEqual(two);
  expect(addressesOf(two)).toEqual(two);
});

test.each(['', ' , ', 'localhost:7420', 'ftp://a', 'http://'])("'%s' is no address", (url) => {
  expect(() => addressesOf(url)).toThrow(TypeError);
});

test('a password in an address is refused and not shown', () => {
  expect(() => addressesOf('http://ada:s3cret@host:1')).toThrow(/^(?!.*s3cret).*host:1.*apiKey/);
  expect(() => addressesOf('ada:s3cret@host')).toThrow(/^(?!.*s3cret)/);
});

test('a key becomes a header; one that no header can carry is not shown', () => {
  expect(authorization('slk_1')).toEqual({ authorization: 'Bearer slk_1' });
  expect(authorization(undefined)).toEqual({});
  expect(authorization('')).toEqual({});
  expect(() => authorization('slk_1\r\nx: y')).toThrow(/^(?!.*slk_1)/);
});
