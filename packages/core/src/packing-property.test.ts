import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resources } from './resources.ts';
import { TestPartition } from './testing/test-partition.ts';

type Sized = Required<Pick<Resources, 'cpu' | 'memoryMb'>>;

/**
 * Sizes are small beside the workers: a task takes a twentieth of any kind at the most, so that
 * what is left over at the ends of workers cannot hide a bad choice.
 */
const needs: fc.Arbitrary<Sized> = fc.record({
  cpu: fc.integer({ min: 10, max: 40 }).map((n) => n / 20),
  memoryMb: fc.integer({ min: 10, max: 40 }).map((n) => n * 10),
});

const workers: fc.Arbitrary<Sized> = fc.record({
  cpu: fc.integer({ min: 40, max: 60 }),
  memoryMb: fc.integer({ min: 8000, max: 12_000 }),
});

const fleets = fc.array(workers, { minLength: 1, maxLength: 3 });
const mixes = fc.array(needs, { minLength: 1, maxLength: 8 });

describe.each([{ placement: 'spread' }, { placement: 'pack' }] as const)(
  'with twice as much demand as there is room, $placement',
  ({ placement }) => {
    /**
     * If tasks could be cut to pieces, the scarce kind would be used up to the last bit, so the
     * optimum is the whole of it.
     */
    test('uses at least 95 % of the fractional optimum of a scarce kind', () => {
      fc.assert(
        fc.property(fleets, mixes, (fleet, mix) => {
          const { used, offered } = fill(
            fleet.map(({ cpu }) => ({ cpu, memoryMb: 1e8 })),
            mix,
            placement,
          );

          const share = sum(used, 'cpu') / sum(offered, 'cpu');
          expect(share).toBeLessThanOrEqual(1);
          expect(share).toBeGreaterThanOrEqual(0.95);
        }),
        { numRuns: 25 },
      );
    });

    test('fills every worker to 95 % of the kind that is scarcest there, and never beyond', () => {
      fc.assert(
        fc.property(fleets, mixes, (fleet, mix) => {
          const { used, offered } = fill(fleet, mix, placement);

          used.forEach(({ cpu, memoryMb }, index) => {
            const share = Math.max(cpu / offered[index].cpu, memoryMb / offered[index].memoryMb);
            expect(share).toBeLessThanOrEqual(1);
            expect(share).toBeGreaterThanOrEqual(0.95);
          });
        }),
        { numRuns: 25 },
      );
    });
  },
);

/** What each worker uses after more was submitted than they can take. */
function fill(offered: readonly Sized[], mix: readonly Sized[], placement: 'spread' | 'pack') {
  const partition = new TestPartition(
    { tasksMax: 1000, unsentBytesMax: 1e9 },
    { matching: { placement } },
  );
  const sessions = offered.map((capacity) => partition.attach({ slots: 10_000, capacity }).session);
  const demand = demandFor(offered, mix);
  partition.submit(...demand.map((resources) => ({ resources })));

  const used = sessions.map((session) => {
    const held = partition.heldBy(session).map((number) => demand[number - 1]);
    return { cpu: sum(held, 'cpu'), memoryMb: sum(held, 'memoryMb') };
  });
  return { used, offered };
}

/** Twice as much of each kind as there is, or of the first that gets there. */
function demandFor(offered: readonly Sized[], mix: readonly Sized[]): Sized[] {
  const demand: Sized[] = [];
  const isEnough = (kind: keyof Sized) => sum(demand, kind) >= 2 * sum(offered, kind);
  while (!isEnough('cpu') && !isEnough('memoryMb')) {
    demand.push(mix[demand.length % mix.length]);
  }
  return demand;
}

function sum(list: readonly Sized[], kind: keyof Sized): number {
  return list.reduce((total, each) => total + Math.round(each[kind] * 1000), 0) / 1000;
}
