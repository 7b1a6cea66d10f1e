import { expect, test } from 'vitest';
import { OutputTail } from './output-tail.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('lines are cut at their ends, however the bytes arrive', () => {
  const tail = new OutputTail();
  const all = bytes('grün\r\nblau\nrot');
  for (const byte of all) tail.push(Uint8Array.of(byte));

  expect(tail.take()).toEqual(['grün', 'blau']);
  expect(tail.end()).toEqual(['rot']);
  expect(tail.end()).toEqual([]);
});

test('a character that is torn between two takes is whole', () => {
  const tail = new OutputTail();
  const [first, second] = bytes('ü');
  tail.push(Uint8Array.of(first));
  expect(tail.take()).toEqual([]);
  tail.push(Uint8Array.of(second, 0x0a));

  expect(tail.take()).toEqual(['ü']);
});

test('of too much output the end is kept, and the loss is said', () => {
  const tail = new OutputTail();
  const chunk = bytes('x'.repeat(65_535).concat('\n'));
  for (let i = 0; i < 20; i++) tail.push(chunk);
  tail.push(bytes('the end\n'));

  const lines = tail.take();

  expect(lines[0]).toBe(`… ${17 * 65_536} bytes of output were dropped: too much at once`);
  expect(lines.at(-1)).toBe('the end');
  expect(lines.join('').length).toBeLessThan(300_000);
});

test('a line without an end is cut into pieces', () => {
  const tail = new OutputTail();
  tail.push(bytes('y'.repeat(20_000)));

  expect(tail.take().map(({ length }) => length)).toEqual([8192, 8192]);
  expect(tail.end().map(({ length }) => length)).toEqual([20_000 - 2 * 8192]);
});

test('bytes that are no text become replacement characters', () => {
  const tail = new OutputTail();
  tail.push(Uint8Array.of(0xff, 0xfe, 0x0a));

  expect(tail.take()).toEqual(['\ufffd\ufffd']);
});
