/**
 * Finds what must not stay in the repository: machine paths, skipped tests, personal notes.
 *
 * The patterns and examples are written so that this file does not contain what it searches for.
 */
import { blankLiterals } from './literals.ts';
import { linesOf, planted, type SourceFile, type TidyCheck } from './repository.ts';

const MACHINE_PATH = /(?<![\w.~}-])\/(?:work|root|farm)\//;
const NOTE = /\b(?:TO(?:DO)|FIX(?:ME))\b/;
const SILENCED_TEST =
  /\b(?:test|it|describe|suite|each|concurrent|sequential)\b[^;=]{0,40}\.(?:only|skip|todo)\b(?=\s*[.(])/;
const TEST_FILE = /^tests\/.*\.tsx?$|\.(?:test|e2e)\.tsx?$/;

const note = ['TO', 'DO'].join('');
const folder = ['', 'work', ''].join('/');

export const leftovers: TidyCheck = {
  name: 'leftovers',
  find: (files) => files.flatMap(findInFile),
  examples: [
    {
      title: 'paths of one machine',
      files: [
        planted('a.md', '# A', `See ${folder}main.`),
        planted('packages/a/bin/b', `cd "${folder}main"`),
      ],
      problems: [
        'a.md:2: a path that exists on one machine only',
        'packages/a/bin/b:1: a path that exists on one machine only',
      ],
    },
    {
      title: 'notes to oneself',
      files: [planted('a.ts', `// ${note}: later`), planted('b.yml', `# ${'FIX'}${'ME'}`)],
      problems: [
        'a.ts:1: a note to oneself; do it or drop it',
        'b.yml:1: a note to oneself; do it or drop it',
      ],
    },
    {
      title: 'tests that do not run, or keep others from running',
      files: [
        planted(
          'packages/a/src/b.test.ts',
          "test.only('a', f);",
          "describe.skip.each([1])('b', f);",
        ),
        planted('tests/e2e/run.ts', "test.todo('a');"),
      ],
      problems: [
        'packages/a/src/b.test.ts:1: a test is left out or runs alone',
        'packages/a/src/b.test.ts:2: a test is left out or runs alone',
        'tests/e2e/run.ts:1: a test is left out or runs alone',
      ],
    },
    {
      title: 'what only looks similar',
      files: [
        planted('a.md', `docs${folder}a.md, https://example.com${folder}`, `${note}S, to-do`),
        planted('packages/a/src/b.ts', 'cursor.skip(1);'),
        planted('packages/a/src/b.test.ts', "test.skipIf(c)('a', f);", "f('test.only()');"),
        planted('package-lock.json', `"integrity": "sha512-+${folder}=="`),
      ],
      problems: [],
    },
  ],
};

function findInFile(file: SourceFile): string[] {
  if (file.path === 'package-lock.json') return [];
  const code = TEST_FILE.test(file.path) ? linesOf(blankLiterals(file.text)) : [];

  return linesOf(file.text).flatMap((line, index) => {
    const problems: string[] = [];
    const where = `${file.path}:${index + 1}`;
    if (MACHINE_PATH.test(line)) problems.push(`${where}: a path that exists on one machine only`);
    if (NOTE.test(line)) problems.push(`${where}: a note to oneself; do it or drop it`);
    if (SILENCED_TEST.test(code[index] ?? '')) {
      problems.push(`${where}: a test is left out or runs alone`);
    }
    return problems;
  });
}
