import { isMarkdown, linesOf, planted, type SourceFile, type TidyCheck } from './repository.ts';

/** A row of a table whose second cell is a test file and whose third is the name of a test. */
const ROW = /^\|[^|]*\| `([^`]+\.test\.ts)` \| ([^|]+) \|$/;

/** If a document names the test of a rule, that test must exist. */
export const ruleTests: TidyCheck = {
  name: 'tests of rules',
  find: (files) => {
    const tests = new Map(files.map((file) => [file.path, file.text]));
    return files.filter(isMarkdown).flatMap((file) => findMissing(file, tests));
  },
  examples: [
    {
      title: 'a test that is not there, and a file that is not',
      files: [
        planted(
          'docs/rules.md',
          '| a rule | `a.test.ts` | a task waits |',
          '| another | `b.test.ts` | a task waits |',
        ),
        planted('a.test.ts', "test('a task is queued', () => {});"),
      ],
      problems: [
        "docs/rules.md:1: a.test.ts has no test 'a task waits'",
        "docs/rules.md:2: b.test.ts has no test 'a task waits'",
      ],
    },
    {
      title: 'tests that are there, also as one of many, and other tables',
      files: [
        planted(
          'docs/rules.md',
          '| a rule | `a.test.ts` | a task waits |',
          '| a rule | `a.test.ts` | %s is refused |',
          '| a file | `a.ts` | a task waits |',
        ),
        planted('a.test.ts', "test('a task waits', () => {});", "test.each(X)('%s is refused')"),
      ],
      problems: [],
    },
  ],
};

function findMissing(file: SourceFile, tests: ReadonlyMap<string, string>): string[] {
  return linesOf(file.text).flatMap((line, index) => {
    const [, path, name] = ROW.exec(line) ?? [];
    if (path === undefined || name === undefined) return [];
    const found = [...tests].some(([each, text]) => each.endsWith(path) && text.includes(name));
    return found ? [] : [`${file.path}:${index + 1}: ${path} has no test '${name}'`];
  });
}
