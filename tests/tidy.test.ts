import { describe, expect, test } from 'vitest';
import { errorPages, errorPagesExample, loadErrorCodes } from './tidy/error-pages.ts';
import { exactVersions } from './tidy/exact-versions.ts';
import { fileSize, lineWidth } from './tidy/file-size.ts';
import { functionSize } from './tidy/function-size.ts';
import { importFences } from './tidy/import-fences.ts';
import { leftovers } from './tidy/leftovers.ts';
import { links } from './tidy/links.ts';
import { names } from './tidy/names.ts';
import { oneVersion } from './tidy/one-version.ts';
import { readRepository, type TidyCheck } from './tidy/repository.ts';
import { rooms } from './tidy/rooms.ts';
import { ruleNames } from './tidy/rule-names.ts';
import { ruleTests } from './tidy/rule-tests.ts';

const REPOSITORY = readRepository();

const CHECKS: readonly TidyCheck[] = [
  fileSize,
  lineWidth,
  functionSize,
  names,
  links,
  importFences,
  rooms,
  exactVersions,
  oneVersion,
  leftovers,
  ruleTests,
  ruleNames,
];

test('the checks see the repository', () => {
  const paths = REPOSITORY.map((file) => file.path);

  expect(paths).toContain('tests/tidy.test.ts');
  expect(paths).toContain('packages/core/src/index.ts');
});

describe.each(CHECKS)('$name', (check) => {
  test('the repository has no problem', () => {
    expect(check.find(REPOSITORY)).toEqual([]);
  });
});

test('every error code has a page and every page a code', async () => {
  const check = errorPages(await loadErrorCodes());

  expect(check.find(REPOSITORY)).toEqual([]);
});

describe.each([...CHECKS, errorPagesExample])('$name, on planted files', (check) => {
  test('the examples show a violation and a near miss', () => {
    const counts = check.examples.map((example) => example.problems.length);

    expect(Math.max(...counts)).toBeGreaterThan(0);
    expect(Math.min(...counts)).toBe(0);
  });

  test.each(check.examples)('$title', ({ files, problems }) => {
    expect(check.find(files)).toEqual(problems);
  });
});
