import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteadyClock } from './steady-clock.ts';

const START = 1_700_000_000_000;

/** Two clocks that the test moves. */
function makeClock() {
  const time = { wall: START, monotonic: 0 };
  const clock = new SteadyClock({ wall: () => time.wall, monotonic: () => time.monotonic });
  const pass = (ms: number): void => {
    time.wall += ms;
    time.monotonic += ms;
  };
  return { time, clock, pass };
}

test('it follows a wall clock that is right', () => {
  const { clock, pass } = makeClock();

  pass(1234);

  expect(clock.now()).toBe(START + 1234);
});

test('a clock that is an hour ahead for one reading is not believed', () => {
  const { time, clock, pass } = makeClock();
  time.wall += 3_600_000;
  expect(clock.now()).toBe(START);

  time.wall -= 3_600_000;
  pass(1000);

  expect(clock.now()).toBe(START + 1000);
});

test('a clock that stays ahead is followed after ten seconds', () => {
  const { time, clock, pass } = makeClock();
  time.wall += 3_600_000;
  clock.now();

  pass(9999);
  expect(clock.now()).toBe(START + 9999);
  pass(1);

  expect(clock.now()).toBe(START + 3_600_000 + 10_000);
});

test('a small step forward is taken at once', () => {
  const { time, clock } = makeClock();

  time.wall += 59_000;

  expect(clock.now()).toBe(START + 59_000);
});

test('a clock that was set back is approached without standing still', () => {
  const { time, clock, pass } = makeClock();
  time.wall -= 10_000;

  pass(1000);
  expect(clock.now()).toBe(START + 900);

  for (let i = 0; i < 200; i++) {
    pass(1000);
    clock.now();
  }
  expect(clock.now()).toBe(time.wall);
});

test('it never runs backwards, whatever the wall clock does', () => {
  const steps = fc.array(
    fc.record({
      passed: fc.integer({ min: 0, max: 20_000 }),
      step: fc.integer({ min: -10_000_000, max: 10_000_000 }),
    }),
  );
  fc.assert(
    fc.property(steps, (list) => {
      const { time, clock, pass } = makeClock();
      let before = clock.now();
      for (const { passed, step } of list) {
        pass(passed);
        time.wall += step;
        const now = clock.now();
        expect(now).toBeGreaterThanOrEqual(before);
        before = now;
      }
    }),
  );
});

test('a wall clock that was set back while the server was down does not stop time', () => {
  const { clock, pass } = makeClock();

  clock.notBefore(START + 100_000);
  expect(clock.now()).toBe(START + 100_000);
  pass(10_000);

  expect(clock.now()).toBe(START + 109_000);
  pass(2_000_000);
  expect(clock.now()).toBe(START + 2_010_000);
});

test('a time that has passed already changes nothing', () => {
  const { clock, pass } = makeClock();
  pass(5000);

  clock.notBefore(START + 1000);

  expect(clock.now()).toBe(START + 5000);
});
