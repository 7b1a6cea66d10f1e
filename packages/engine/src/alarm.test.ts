import { expect, test } from 'vitest';
import { Alarm } from './alarm.ts';

/** Timers that the test fires by hand. */
class ManualTimers {
  readonly running = new Set<{ delayMs: number; run: () => void }>();

  readonly start = (delayMs: number, run: () => void): (() => void) => {
    const timer = { delayMs, run };
    this.running.add(timer);
    return () => this.running.delete(timer);
  };

  get delays(): number[] {
    return [...this.running].map(({ delayMs }) => delayMs);
  }

  fire(): void {
    for (const timer of [...this.running]) {
      this.running.delete(timer);
      timer.run();
    }
  }
}

function makeAlarm() {
  const timers = new ManualTimers();
  const rung: string[] = [];
  return { timers, rung, alarm: new Alarm(timers.start, () => rung.push('rung')) };
}

test('an alarm rings once, after the time that is left', () => {
  const { timers, rung, alarm } = makeAlarm();

  alarm.set(1500, 1000);
  expect(timers.delays).toEqual([500]);
  timers.fire();

  expect(rung).toEqual(['rung']);
  expect(timers.delays).toEqual([]);
});

test('setting it anew takes back the old time, setting it the same at once does nothing', () => {
  const { timers, alarm } = makeAlarm();

  alarm.set(1500, 1000);
  alarm.set(1500, 1009);
  expect(timers.delays).toEqual([500]);

  alarm.set(1200, 1009);
  expect(timers.delays).toEqual([191]);
});

test('an overdue time rings at once, an infinite one never', () => {
  const { timers, alarm } = makeAlarm();

  alarm.set(1, 1000);
  expect(timers.delays).toEqual([0]);

  alarm.set(Number.POSITIVE_INFINITY, 1000);
  expect(timers.delays).toEqual([]);
});

test('a time that is years away is slept in pieces', () => {
  const { timers, alarm } = makeAlarm();

  alarm.set(10 ** 12, 0);

  expect(timers.delays).toEqual([3_600_000]);
});

test('after it rang it can be set to the same time again', () => {
  const { timers, alarm } = makeAlarm();
  alarm.set(1500, 1000);
  timers.fire();

  alarm.set(1500, 1499);

  expect(timers.delays).toEqual([1]);
});

test('a time that came nearer because the clock was set forward is not slept past', () => {
  const { timers, alarm } = makeAlarm();
  alarm.set(60_000, 1000);

  alarm.set(60_000, 59_995);

  expect(timers.delays).toEqual([5]);
});

test('a time that is overdue because the clock was set forward rings at once, and once', () => {
  const { timers, rung, alarm } = makeAlarm();

  alarm.set(60_000, 1000);
  alarm.set(60_000, 61_000);
  const [timer] = timers.running;
  alarm.set(60_000, 61_100);
  expect([...timers.running]).toEqual([timer]);
  expect(timers.delays).toEqual([0]);

  timers.fire();
  expect(rung).toEqual(['rung']);
});
