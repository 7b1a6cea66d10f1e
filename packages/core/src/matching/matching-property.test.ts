import fc from 'fast-check';
import { expect, test } from 'vitest';
import { World } from '../testing/world/world.ts';
import { matchingActions, passedMs } from '../testing/world/world-actions.ts';

// The rules of the matching (matching.no-idle-fit, matching.within-offer, matching.level-order).
test('tasks and workers are brought together as the model says', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(fc.tuple(matchingActions, passedMs), { minLength: 20, maxLength: 80, size: 'max' }),
      (steps) => {
        const world = new World();
        for (const [action, passed] of steps) {
          world.partition.now += passed;
          world.act(action);
          world.compare();
          for (const task of world.model.tasks) seen.add(`${task.state} ${task.reason}`);
        }
        for (const what of world.met) seen.add(what);
      },
    ),
    { numRuns: 80 },
  );

  expect(EVERYTHING.filter((situation) => !seen.has(situation))).toEqual([]);
});

/** The runs above must cover all of these. */
const EVERYTHING = ['queued refused', 'drained', 'aged', 'reserved', 'given what was reserved'];
