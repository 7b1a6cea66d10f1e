import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeliveryLanes, type Planned } from './delivery-lanes.ts';

const NOW = 100;

test('only the oldest of a task is tried, then the next (callbacks.oldest-first)', () => {
  const lanes = lanesWith(planned(1, { task: 7 }), planned(2, { task: 7 }));

  const first = lanes.take(NOW);

  expect(first?.number).toBe(1);
  expect(lanes.take(NOW)).toBeUndefined();
  finish(lanes, first);
  expect(lanes.take(NOW)?.number).toBe(2);
});

test('while the oldest waits for its next try, the others wait (callbacks.oldest-first)', () => {
  const lanes = lanesWith(planned(1, { task: 7 }), planned(2, { task: 7 }));

  finish(lanes, lanes.take(NOW), NOW + 50);

  expect(lanes.take(NOW)).toBeUndefined();
  expect(lanes.nextAt).toBe(NOW + 50);
  expect(lanes.take(NOW + 50)?.number).toBe(1);
});

test('an older one that is redelivered goes before those that wait', () => {
  const lanes = lanesWith(planned(2, { task: 7, nextAt: NOW + 50 }));

  lanes.add(planned(1, { task: 7 }));

  expect(lanes.take(NOW)?.number).toBe(1);
  expect(lanes.take(NOW + 50)).toBeUndefined();
});

test('one that waits and is redelivered is tried at once, and once', () => {
  const lanes = lanesWith(planned(1, { nextAt: NOW + 5000 }));

  lanes.add(planned(1));
  finish(lanes, lanes.take(NOW));

  expect(lanes.take(NOW + 5000)).toBeUndefined();
});

test('one that is under way is not begun again', () => {
  const lanes = lanesWith(planned(1));
  const first = lanes.take(NOW);

  lanes.add(planned(1));

  expect(lanes.take(NOW)).toBeUndefined();
  finish(lanes, first);
  expect(lanes.take(NOW)).toBeUndefined();
});

test('a host that is busy holds up no other, and hosts take turns (callbacks.fair-hosts)', () => {
  const slow = Array.from({ length: 100 }, (_, n) => planned(n + 1, { host: 'slow' }));
  const lanes = lanesWith(
    ...slow,
    planned(101, { host: 'other' }),
    planned(102, { host: 'other' }),
  );

  const taken = takeAll(lanes);

  expect(taken.map(({ number }) => number)).toEqual([1, 101, 2, 102]);
});

test('a host that failed gets one at a time until it takes one (callbacks.fair-hosts)', () => {
  const lanes = lanesWith(...[1, 2, 3, 4, 5, 6].map((number) => planned(number)));

  finish(lanes, lanes.take(NOW), NOW + 5000);
  const alone = takeAll(lanes);
  finish(lanes, alone[0]);
  const together = takeAll(lanes);

  expect(alone.map(({ number }) => number)).toEqual([2]);
  expect(together.map(({ number }) => number)).toEqual([3, 4]);
});

test('nothing is tried before its time (callbacks.not-early)', () => {
  const lanes = lanesWith(planned(1, { nextAt: NOW + 1 }));

  expect(lanes.take(NOW)).toBeUndefined();
  expect(lanes.take(NOW + 1)?.number).toBe(1);
});

test('whatever happens, each is tried until it is over, in order, within bounds', () => {
  const steps = fc.array(
    fc.record({
      task: fc.nat(5),
      host: fc.constantFrom('a', 'b', 'c'),
      delayMs: fc.nat(50),
      outcomes: fc.array(fc.nat(40), { maxLength: 3 }),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (all) => {
      const lanes = new DeliveryLanes(2);
      const over: Planned[] = [];
      all.forEach(({ task, host, delayMs }, n) => {
        lanes.add(planned(n + 1, { task, host: `${host}${task}`, nextAt: delayMs }));
      });
      const rest = all.map(({ outcomes }) => [...outcomes]);
      for (let now = 0; now < 10_000 && over.length < all.length; now += 10) {
        const taken = takeAll(lanes, now);
        for (const each of taken) {
          const again = rest[each.number - 1].pop();
          lanes.finish(each, again === undefined ? undefined : now + again);
          if (again === undefined) over.push(each);
        }
      }

      expect(over).toHaveLength(all.length);
      for (const task of [0, 1, 2, 3, 4, 5]) {
        const numbers = over.filter((each) => each.task === task).map(({ number }) => number);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
      expect(lanes.nextAt).toBe(Number.POSITIVE_INFINITY);
    }),
  );
});

function planned(number: number, more: Partial<Planned> = {}): Planned {
  return { number, task: number, host: 'a', nextAt: NOW, ...more };
}

function lanesWith(...all: readonly Planned[]): DeliveryLanes {
  const lanes = new DeliveryLanes(2);
  for (const each of all) lanes.add(each);
  return lanes;
}

function takeAll(lanes: DeliveryLanes, now = NOW): Planned[] {
  const taken: Planned[] = [];
  for (let each = lanes.take(now); each !== undefined; each = lanes.take(now)) taken.push(each);
  return taken;
}

function finish(lanes: DeliveryLanes, one: Planned | undefined, nextAt?: number): void {
  if (one === undefined) throw new Error('nothing was under way');
  lanes.finish(one, nextAt);
}
