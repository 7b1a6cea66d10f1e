import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { MUTANTS } from './all-mutants.ts';
import { MUTANT_VARIABLE, type Mutant, plant, urlOf } from './mutant.ts';

const PACKAGES = fileURLToPath(new URL('../../..', import.meta.url));

const mutant = { name: 'a-bug', file: 'core/src/partition.ts', find: 'b', replace: 'x', what: '' };

test('every planted bug has a name of its own and says which promise it breaks', () => {
  const names = MUTANTS.map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)+$/);
  for (const { what } of MUTANTS) expect(what).toMatch(/^\w.+: here .+\.$/);
});

test.each(MUTANTS)('$name finds its one place in production code', (each) => {
  const source = readFileSync(urlOf(each), 'utf8');

  const planted = plant(source, each);

  expect(each.file).not.toMatch(/^simulator\//);
  expect(planted).not.toBe(source);
});

test('a bug is planted in its place', () => {
  expect(plant('abc', mutant)).toBe('axc');
});

test('a bug whose place is gone, or not the only one, is refused', () => {
  expect(() => plant('ac', mutant)).toThrow("the planted bug 'a-bug' changes occurs not");
  expect(() => plant('abcb', mutant)).toThrow("the planted bug 'a-bug' changes occurs 2 times");
});

/** The sources of all packages except the simulator, by path. */
function productionSources(): (readonly [path: string, source: string])[] {
  const paths = readdirSync(PACKAGES, { recursive: true, encoding: 'utf8' }).filter((path) => {
    return /^(?!simulator).+\/src\/.+\.ts$/.test(path) && !path.includes('node_modules');
  });
  return paths.map((path) => [path, readFileSync(join(PACKAGES, path), 'utf8')]);
}

/** Strings in a source that show knowledge of planted bugs. */
function tracesIn(source: string, mutants: readonly Mutant[]): string[] {
  const words = [MUTANT_VARIABLE, 'registerHooks', '@sluice/simulator', 'mutants/'];
  return [...words, ...mutants.map(({ name }) => name)].filter((word) => source.includes(word));
}

test('production code has no trace of planted bugs', () => {
  const sources = productionSources();

  expect(sources.length).toBeGreaterThan(200);
  for (const [path, source] of sources) {
    expect([path, ...tracesIn(source, MUTANTS)]).toEqual([path]);
  }
});

test('a trace of planted bugs would be seen', () => {
  const switched = `if (process.env.${MUTANT_VARIABLE} === 'a-bug') return;`;

  expect(tracesIn(switched, [mutant])).toEqual([MUTANT_VARIABLE, 'a-bug']);
});
