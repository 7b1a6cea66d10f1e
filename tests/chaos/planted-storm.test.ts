import { expect, test } from 'vitest';
import type { Mutant } from '../../packages/simulator/src/mutants/mutant.ts';
import { killedStorm } from './killed-storm.ts';

/**
 * Without the check, the log accepts numbers that its reader refuses or reads as another number.
 */
const uncheckedNumbers: Mutant = {
  name: 'unchecked-numbers',
  file: 'core/src/events/record-writer.ts',
  find: "invariant(value >= 0 && Number.isSafeInteger(value), 'a number of an event is whole');",
  replace: '',
  what: 'Only whole numbers reach the log: here any number does.',
};

const endlessResumeNumber: Mutant = {
  name: 'endless-resume-number',
  file: 'protocol/src/schemas/worker-schemas.ts',
  find: `minimum: 1,
              maximum: LIMITS.numberMax,
              description:
                'Higher at each resume`,
  replace: `minimum: 1,
              description:
                'Higher at each resume`,
  what: 'A number that cannot be logged is refused: here a resume may have any.',
};

const fractionOfTime: Mutant = {
  name: 'fraction-of-time',
  file: 'core/src/commands/sessions/expect-holders.ts',
  find: 'Math.ceil(holder.leaseMs * 1.5)',
  replace: 'holder.leaseMs * 1.5',
  what: 'Columns hold what the log holds: here a time may have a fraction.',
};

const SHORT = { count: 1500, seed: 1, kills: 2 };

test('a resume number that no reader takes is found by the restart', async () => {
  const mutants = [uncheckedNumbers, endlessResumeNumber];

  const { problems } = await killedStorm({ ...SHORT, mutants });

  expect(problems.join('\n')).toMatch(/cannot fold from|did not print/);
});

test('a fraction in a column is found by the hash of the state', async () => {
  const mutants = [uncheckedNumbers, fractionOfTime];

  const { problems } = await killedStorm({ ...SHORT, mutants });

  expect(problems.join('\n')).toMatch(/the state hash is|StateHashError/);
});
