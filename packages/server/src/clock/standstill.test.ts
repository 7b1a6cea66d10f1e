import { expect, test } from 'vitest';
import { Standstill } from './standstill.ts';

function begun() {
  let monotonic = 1000;
  let wall = 5_000_000;
  const standstill = new Standstill({ monotonic: () => monotonic, clock: () => wall });
  const setClock = (ms: number) => {
    wall += ms;
  };
  const pass = (ms: number) => {
    monotonic += ms;
    wall += ms;
  };
  return { standstill, pass, setClock };
}

test('a process that runs has not stood still', () => {
  const { standstill, pass } = begun();
  for (let beats = 0; beats < 100; beats++) {
    pass(500 + (beats % 3) * 200);
    expect(standstill.isWaking).toBe(false);
    expect(standstill.beat()).toBe(false);
  }
});

test('a short standstill is told once, to a timer or to a beat, and nothing is old', () => {
  const { standstill, pass } = begun();
  pass(3000);
  expect(standstill.isWaking).toBe(false);
  expect(standstill.hasBeen()).toBe(true);
  expect(standstill.beat()).toBe(false);
  pass(3000);
  expect(standstill.beat()).toBe(true);
  expect(standstill.hasBeen()).toBe(false);
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

test('a clock that was set forward counts, one that was set back does not', () => {
  const { standstill, pass, setClock } = begun();
  setClock(60_000);
  pass(1);
  expect(standstill.isWaking).toBe(true);
  expect(standstill.hasBeen()).toBe(true);
  setClock(-60_000);
  pass(2000);
  expect(standstill.beat()).toBe(true);
  pass(500);
  expect(standstill.beat()).toBe(false);
});
