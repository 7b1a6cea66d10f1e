import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HOLD_MS, HoldTerm, HoldWatch, TERM_MS, TermOverError } from './hold-rules.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const hold = (renewals: number, isExpired = true) => ({ epoch: 3, renewals, isExpired });

test('a hold is claimed after it was seen unchanged for five seconds', () => {
  const watch = new HoldWatch();

  const claims = Array.from({ length: 21 }, (_, n) => watch.saw(hold(7), n * 250));

  expect(claims.indexOf(true)).toBe(20);
});

test('each renewal begins the five seconds again', () => {
  const watch = new HoldWatch();
  for (let at = 0; at <= 4_750; at += 250) watch.saw(hold(7), at);

  expect(watch.saw(hold(8), 5_000)).toBe(false);
  expect(watch.saw(hold(8), 5_250)).toBe(false);
});

test('a gap between two looks begins them again: nobody knows what happened meanwhile', () => {
  const watch = new HoldWatch();
  for (let at = 0; at <= 4_000; at += 250) watch.saw(hold(7), at);

  expect(watch.saw(hold(7), 9_000)).toBe(false);
});

test('the clock of the database has to agree', () => {
  const watch = new HoldWatch();
  for (let at = 0; at <= 9_750; at += 250) expect(watch.saw(hold(7, false), at)).toBe(false);

  expect(watch.saw(hold(7), 10_000)).toBe(true);
});

/**
 * An owner renews at random times with random delays, and stops at some time. A challenger looks
 * at random times. Whatever happens, the owner's term is over when the challenger claims.
 */
test('nobody claims while the owner may still answer from memory (hold.watched-silence)', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ pause: fc.nat(3000), way: fc.nat(2500) }), { maxLength: 20 }),
      fc.array(fc.record({ pause: fc.integer({ min: 1, max: 1200 }), way: fc.nat(900) }), {
        minLength: 30,
        maxLength: 60,
      }),
      (renewals, looks) => {
        let now = 0;
        const landed = renewals.map(({ pause, way }, n) => {
          now += pause;
          return { sentAt: now, landsAt: now + way, renewals: n + 1 };
        });
        const watch = new HoldWatch();
        let at = 0;
        for (const { pause, way } of looks) {
          at += pause;
          const readAt = at;
          const seen = landed.filter((each) => each.landsAt <= readAt).length;
          const lastLanding = Math.max(0, ...landed.slice(0, seen).map((e) => e.landsAt));
          const isExpired = readAt - lastLanding > HOLD_MS;
          if (!watch.saw({ epoch: 1, renewals: seen, isExpired }, at + way)) continue;
          const answered = landed.filter((each) => each.landsAt <= at + way);
          // A renewal that lands after the look was not seen, and the claim makes it fail.
          const known = answered.filter((each) => each.landsAt <= readAt);
          const lastSent = Math.max(Number.NEGATIVE_INFINITY, ...known.map((e) => e.sentAt));
          expect(at + way - lastSent).toBeGreaterThanOrEqual(TERM_MS);
          return;
        }
      },
    ),
  );
});

test('a term lasts four seconds from when its renewal was sent', () => {
  let now = 1000;
  const term = new HoldTerm({ monotonic: () => now, wall: () => now });
  expect(term.isOver()).toBe(true);

  const answered = term.sending();
  now += 3999;
  answered();

  expect(term.isOver()).toBe(false);
  now += 1;
  expect(term.isOver()).toBe(true);
});

test('a machine that slept has no term, though its monotonic clock stood still', () => {
  let wall = 1000;
  const term = new HoldTerm({ monotonic: () => 0, wall: () => wall });
  term.sending()();

  wall += 60_000;

  expect(term.isOver()).toBe(true);
});

test('a read waits for a renewal, or is refused', () => {
  let now = 0;
  const term = new HoldTerm({ monotonic: () => now, wall: () => now });
  const released = vi.fn();
  const dropped = vi.fn();
  term.whenRenewed(released, dropped);

  now = 500;
  term.sending()();
  expect(released).toHaveBeenCalledOnce();

  term.whenRenewed(released, dropped);
  vi.advanceTimersByTime(1000);
  expect(dropped).toHaveBeenCalledWith(expect.any(TermOverError));
  expect(released).toHaveBeenCalledOnce();
});

test('a read that waits when the hold is lost hears that it may try again', () => {
  const term = new HoldTerm({ monotonic: () => 0, wall: () => 0 });
  const dropped = vi.fn();
  term.whenRenewed(() => undefined, dropped);

  term.end(new Error('another server took over'));

  expect(dropped).toHaveBeenCalledExactlyOnceWith(expect.any(TermOverError));
});
