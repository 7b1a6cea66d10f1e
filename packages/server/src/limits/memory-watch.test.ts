import { expect, test } from 'vitest';
import { MemoryWatch } from './memory-watch.ts';

test('says so while the process takes more than it may, and looks now and then only', () => {
  let now = 0;
  let bytes = 100;
  let looks = 0;
  const look = (): number => {
    looks += 1;
    return bytes;
  };
  const watch = new MemoryWatch(100, look, () => now);

  expect(watch.isOver).toBe(false);
  bytes = 101;
  now = 99;
  expect(watch.isOver).toBe(false);
  expect(looks).toBe(1);
  now = 100;
  expect(watch.isOver).toBe(true);
  bytes = 100;
  now = 200;
  expect(watch.isOver).toBe(false);
});

test('asks the process itself', () => {
  expect(new MemoryWatch(1).isOver).toBe(true);
  expect(new MemoryWatch(2 ** 50).isOver).toBe(false);
});
