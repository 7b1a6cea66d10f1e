import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SLOT, type Slot } from '../base/ids.ts';
import { TimingWheel } from './timing-wheel.ts';

const CAPACITY = 40;

/** A wheel, and a list for comparison that is searched completely. */
class WheelBesideList {
  private readonly dueAt = new Float64Array(CAPACITY);
  private readonly order = new Float64Array(CAPACITY);
  readonly wheel = new TimingWheel(CAPACITY, { dueAt: this.dueAt, order: this.order });
  readonly running = new Set<Slot>();
  private added = 0;

  add(slot: Slot, dueAt: number): void {
    if (this.running.has(slot)) return;
    this.dueAt[slot] = dueAt;
    // Orders differ from the order of arrival.
    this.order[slot] = (this.added++ * 7919) % 1009;
    this.wheel.add(slot);
    this.running.add(slot);
  }

  remove(slot: Slot): void {
    if (!this.running.delete(slot)) return;
    this.wheel.remove(slot);
  }

  /** Takes timers from the wheel until none is due. */
  fire(now: number): Slot[] {
    const fired: Slot[] = [];
    for (let slot = this.wheel.firstDue(now); slot !== NO_SLOT; slot = this.wheel.firstDue(now)) {
      fired.push(slot);
      this.remove(slot);
    }
    return fired;
  }

  expectedAt(now: number): Slot[] {
    return [...this.running]
      .filter((slot) => this.dueAt[slot] <= now)
      .sort((a, b) => this.dueAt[a] - this.dueAt[b] || this.order[a] - this.order[b]);
  }

  earliestRunning(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.running].map((slot) => this.dueAt[slot]));
  }
}

const START = 1_700_000_000_000;

/** Delays for every wheel, and some that have already passed. */
const delays = fc.oneof(
  fc.integer({ min: -50, max: 200 }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: 2 ** 31 }),
  fc.integer({ min: 0, max: 2 ** 45 }),
);

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('add' as const), slot: fc.nat(CAPACITY - 1), delay: delays }),
    fc.record({ kind: fc.constant('remove' as const), slot: fc.nat(CAPACITY - 1) }),
    fc.record({ kind: fc.constant('pass' as const), time: fc.nat(5000) }),
    fc.record({ kind: fc.constant('pass' as const), time: fc.nat(2 ** 40) }),
  ),
  { maxLength: 60 },
);

test('timers fire in order of time, never early and each once, as a sorted list would', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const both = new WheelBesideList();
      let now = START;
      for (const step of sequence) {
        if (step.kind === 'add') both.add(step.slot as Slot, now + step.delay);
        else if (step.kind === 'remove') both.remove(step.slot as Slot);
        else {
          now += step.time;
          const expected = both.expectedAt(now);
          expect(both.fire(now)).toEqual(expected);
        }
        expect(both.wheel.count).toBe(both.running.size);
        expect(both.wheel.earliest()).toBeLessThanOrEqual(Math.max(both.earliestRunning(), now));
      }
      const rest = both.expectedAt(START + 2 ** 47);
      expect(rest).toHaveLength(both.running.size);
      expect(both.fire(START + 2 ** 47)).toEqual(rest);
    }),
    { numRuns: 500 },
  );
});

test('a timer is not due one millisecond before its time, and due at it', () => {
  const both = new WheelBesideList();
  both.wheel.firstDue(START);
  both.add(3 as Slot, START + 86_400_000);

  expect(both.fire(START + 86_399_999)).toEqual([]);
  expect(both.fire(START + 86_400_000)).toEqual([3]);
});

test('with few timers the earliest time is that of the first, however far it is', () => {
  const both = new WheelBesideList();
  both.wheel.firstDue(START);
  both.add(1 as Slot, START + 86_400_123);
  both.add(2 as Slot, START + 86_400_007);

  expect(both.wheel.earliest()).toBe(START + 86_400_007);
});

test('with many timers no more than a few are looked at', () => {
  const both = new WheelBesideList();
  both.wheel.firstDue(0);
  for (let slot = 0; slot < CAPACITY; slot++) both.add(slot as Slot, 64 * 64 + 1000 + slot);

  expect(both.wheel.earliest()).toBe(64 * 64);
});

test('a timer that was removed never fires', () => {
  const both = new WheelBesideList();
  both.add(1 as Slot, START + 10);
  both.add(2 as Slot, START + 10);

  both.remove(1 as Slot);

  expect(both.wheel.has(1 as Slot)).toBe(false);
  expect(both.fire(START + 10)).toEqual([2]);
});

test('a time beyond the wheels waits at their end, and hurts nobody else', () => {
  const beside = new WheelBesideList();
  beside.add(1 as Slot, 2 ** 53 - 1);
  beside.add(2 as Slot, 2 ** 48);
  beside.add(3 as Slot, 500);

  expect(beside.fire(1000)).toEqual([3]);
  expect(beside.fire(2 ** 47)).toEqual([]);
});
