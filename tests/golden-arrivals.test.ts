/**
 * How many steps each step of a definition waits for. Runs in flight count on it: a later version
 * has to compile the same definition to the same numbers.
 *
 * `npm run golden` writes the file if it is missing.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RandomDefinition } from '../packages/core/src/testing/runs/random-definition.ts';
import { testUtf8 } from '../packages/core/src/testing/test-utf8.ts';
import { SeededRandom } from '../packages/core/src/testing/world/seeded-random.ts';
import { compileDefinition } from '../packages/core/src/workflow/compile.ts';

const PATH = join(import.meta.dirname, 'golden/arrivals.json');
const DEFINITIONS = 30;
const STEPS_MAX = 40;

interface Golden {
  readonly arrivals: readonly (readonly number[])[];
  readonly definition: object;
}

function arrivalsOf(definition: unknown): readonly (readonly number[])[] {
  const { program, problems } = compileDefinition(definition, testUtf8);
  if (program === undefined) throw new Error(JSON.stringify(problems));
  return program.scopes.map(({ arrivals }) => arrivals);
}

if (process.env.SLUICE_GOLDEN === 'write' && !existsSync(PATH)) {
  const drawn = Array.from({ length: DEFINITIONS }, (_, seed) => {
    const options = { levels: 1, hasEvents: true, length: 12 };
    const definition = new RandomDefinition(new SeededRandom(seed), STEPS_MAX, options).draw();
    return { arrivals: arrivalsOf(definition), definition };
  });
  const lines = drawn.map((each) => JSON.stringify(each));
  writeFileSync(PATH, `[\n${lines.join(',\n')}\n]\n`);
}

const GOLDEN = JSON.parse(readFileSync(PATH, 'utf8')) as readonly Golden[];

test('definitions of an earlier version are compiled to the same arrivals', () => {
  expect(GOLDEN).toHaveLength(DEFINITIONS);

  for (const { arrivals, definition } of GOLDEN) {
    expect(arrivalsOf(definition), JSON.stringify(definition)).toEqual(arrivals);
  }
});

test('they wait for more than one step, and are nested', () => {
  const all = GOLDEN.flatMap(({ arrivals }) => arrivals);

  expect(Math.max(...all.flat())).toBeGreaterThan(2);
  expect(all.length).toBeGreaterThan(DEFINITIONS * 1.2);
});
