import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeState } from './testing/describe-state.ts';
import { runProblems } from './testing/runs/run-problems.ts';
import { LARGE, RunWorld, type Size, SMALL } from './testing/runs/run-world.ts';
import { STEP_KINDS } from './workflow/program.ts';

const RUNS = Number(process.env.SLUICE_RUNS ?? 300);

/** Worlds in which children fail or are cancelled: too rare for 300 draws to meet them always. */
const RARE_SEEDS = [51, 61, 72, 80];

/** A world that begins again in a loop whose iteration is not the newest of the loop around it. */
const RARE_LARGE_SEEDS = [248126240];

/** A large definition costs as much as dozens of small ones. */
const SMALL_PER_LARGE = 30;
const ENDS = ['succeeded', 'failed', 'cancelled'];

/** Compares the run with the naive interpreter after every command; returns what the run met. */
function play(seed: number, size: Size): Set<string> {
  const met = new Set<string>();
  const world = new RunWorld(seed, size);
  expect(world.inMemory()).toEqual(world.inModel());
  let retries = 0;
  for (let n = 0; n < size.actionsMax && (!world.isOver || retries < 2); n++) {
    if (world.isOver) {
      retries += 1;
      const how = world.revive(retries);
      if (how === undefined) break;
      world.drain();
      met.add(how);
    }
    world.act();
    world.drain();
    world.followStop();
    expect(world.inMemory()).toEqual(world.inModel());
    expect(runProblems(world.partition.state)).toEqual([]);
  }
  expect(world.isOver).toBe(true);
  met.add(world.inMemory()[0].status);
  if (world.blobs.hasAnswered) met.add('values in blobs');
  if (world.program.nodes.length >= LARGE.steps) met.add('two hundred steps');
  for (const { kind } of world.program.nodes) met.add(kind);
  for (const { status } of world.inMemory().slice(1)) met.add(`child ${status}`);
  const replayed = world.partition.replayed();
  expect(describeState(replayed.state)).toEqual(describeState(world.partition.state));
  return met;
}

function playMany(size: Size, numRuns: number): Set<string> {
  const met = new Set<string>();
  const seeds = fc.nat(2 ** 31);
  const property = fc.property(seeds, (seed) => {
    for (const each of play(seed, size)) met.add(each);
  });
  const rare = size === SMALL ? RARE_SEEDS : RARE_LARGE_SEEDS;
  const examples = rare.map((seed): [number] => [seed]);
  fc.assert(property, { numRuns, examples });
  return met;
}

test('random definitions run as a naive interpreter says, after every command', () => {
  const met = playMany(SMALL, RUNS);

  expect([...met]).toEqual(
    expect.arrayContaining([
      ...STEP_KINDS,
      ...ENDS,
      ...ENDS.map((end) => `child ${end}`),
      'retried',
      'run again',
      // Rare: a child must have decided the end of all runs above it.
      ...(RUNS >= 1000 ? ['retried below'] : []),
      'values in blobs',
    ]),
  );
});

test('so do random definitions of two hundred steps', () => {
  const met = playMany(LARGE, Math.ceil(RUNS / SMALL_PER_LARGE));

  expect([...met]).toEqual(expect.arrayContaining(['succeeded', 'two hundred steps']));
});
