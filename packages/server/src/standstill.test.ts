import { expect, test } from 'vitest';
import { Standstill } from './standstill.ts';

function begun() {
  let now = 1000;
  const standstill = new Standstill(() => now);
  const pass = (ms: number) => {
    now += ms;
  };
  return { standstill, pass };
}

test('a process that runs has slept through nothing', () => {
  const { standstill, pass } = begun();
  for (let beats = 0; beats < 100; beats++) {
    pass(500 + (beats % 3) * 200);
    expect(standstill.beat()).toBe(false);
    expect(standstill.isWaking).toBe(false);
  }
});

test('a short standstill is noticed by the next beat, and nothing is old', () => {
  const { standstill, pass } = begun();
  pass(3000);
  expect(standstill.isWaking).toBe(false);
  expect(standstill.beat()).toBe(true);
  pass(500);
  expect(standstill.beat()).toBe(false);
});

test('after a long one all that is read within a second may be old', () => {
  const { standstill, pass } = begun();
  pass(20_000);
  expect(standstill.isWaking).toBe(true);
  pass(5);
  expect(standstill.beat()).toBe(true);
  pass(500);
  expect(standstill.beat()).toBe(false);
  expect(standstill.isWaking).toBe(true);
  pass(500);
  expect(standstill.isWaking).toBe(false);
  standstill.beat();
  pass(20_000);
  expect(standstill.beat()).toBe(true);
  expect(standstill.isWaking).toBe(true);
});
