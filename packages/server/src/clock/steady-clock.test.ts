import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClockNotice, SteadyClock } from './steady-clock.ts';

const START = 1_700_000_000_000;
const DAY_MS = 86_400_000;

/** Clocks that the test moves. */
function makeClock(options: { readonly acceptsJumps?: boolean } = {}) {
  const time = { wall: START, monotonic: 0, boot: 50_000 };
  const sources = {
    wall: () => time.wall,
    monotonic: () => time.monotonic,
    boot: () => time.boot,
  };
  const notices: ClockNotice[] = [];
  const notify = (notice: ClockNotice) => notices.push(notice);
  const clock = new SteadyClock(sources, { ...options, notify });
  const pass = (ms: number): void => {
    time.wall += ms;
    time.monotonic += ms;
    time.boot += ms;
  };
  const sleep = (ms: number): void => {
    time.wall += ms;
    time.boot += ms;
  };
  /** Reads the clock once a second, as a server does. */
  const live = (seconds: number): number => {
    for (let i = 0; i < seconds; i++) {
      pass(1000);
      clock.now();
    }
    return clock.now();
  };
  return { time, clock, pass, sleep, live, notices };
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

test('a clock that is wrong by days is not believed, however long it says so', () => {
  const { time, clock, live, notices } = makeClock();
  time.wall += 3 * DAY_MS;

  expect(live(3600)).toBe(START + 3_600_000);

  expect(clock.status).toEqual({ state: 'jump_refused', wallAheadMs: 3 * DAY_MS });
  expect(notices).toEqual([{ type: 'clock_jump_refused', aheadMs: 3 * DAY_MS }]);
});

test('a clock that is right again after a refused jump is followed as before', () => {
  const { time, clock, live, notices } = makeClock();
  time.wall += 3 * DAY_MS;
  live(60);

  time.wall -= 3 * DAY_MS;

  expect(live(10)).toBe(START + 70_000);
  expect(clock.status).toEqual({ state: 'ok', wallAheadMs: 0 });
  expect(notices.map(({ type }) => type)).toEqual(['clock_jump_refused', 'clock_jump_over']);
});

test('each jump that is refused is told once', () => {
  const { time, live, notices } = makeClock();

  for (let i = 0; i < 2; i++) {
    time.wall += 2 * DAY_MS;
    live(60);
    time.wall -= 2 * DAY_MS;
    live(60);
  }

  expect(notices.filter(({ type }) => type === 'clock_jump_refused')).toHaveLength(2);
});

test('a jump of days is followed when that was asked for', () => {
  const { time, live, notices } = makeClock({ acceptsJumps: true });
  time.wall += 3 * DAY_MS;

  expect(live(12)).toBe(START + 3 * DAY_MS + 12_000);

  expect(notices).toEqual([]);
});

test('a machine that slept for a night is believed without being asked', () => {
  const { sleep, live, notices } = makeClock();
  sleep(8 * 3_600_000);

  expect(live(12)).toBe(START + 8 * 3_600_000 + 12_000);

  expect(notices).toEqual([]);
});

test('sleep that was counted once explains no later jump', () => {
  const { time, sleep, live, notices } = makeClock();
  sleep(8 * 3_600_000);
  live(12);

  time.wall += 8 * 3_600_000;

  expect(live(12)).toBe(START + 8 * 3_600_000 + 24_000);
  expect(notices.map(({ type }) => type)).toEqual(['clock_jump_refused']);
});

test('a log from a wrong future is told, and time runs slowly until the clock is there', () => {
  const { clock, live, notices } = makeClock();

  clock.notBefore(START + DAY_MS);

  expect(notices).toEqual([{ type: 'log_ahead', aheadMs: DAY_MS }]);
  expect(live(10)).toBe(START + DAY_MS + 9000);
  expect(clock.status).toEqual({ state: 'slowed', wallAheadMs: 1000 - DAY_MS });
});
