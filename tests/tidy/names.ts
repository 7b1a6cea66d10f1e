import path from 'node:path';
import { blankLiterals } from './literals.ts';
import {
  isTypeScript,
  lineAt,
  linesOf,
  planted,
  type SourceFile,
  type TidyCheck,
} from './repository.ts';

const FILE_NAME = /^[a-z\d]+(?:-[a-z\d]+)*(?:\.(?:test|route|command|e2e|config|d))?\.tsx?$/;
const EMPTY_NAME = /^(?:utils?|helpers?|common|types|misc)\./;

/** The only word for a task is `task`. This synonym is wrong, also as a part of a name. */
const WRONG_WORD = /(?<![A-Za-z])(?:[Jj]obs?(?![a-z])|JOBS?(?![A-Za-z]))|(?<=[a-z])Jobs?(?![a-z])/;

export const names: TidyCheck = {
  name: 'names',
  find: (files) => [...files.filter(isTypeScript).flatMap(findInFile), ...findMissingIndex(files)],
  examples: [
    {
      title: 'file names in another case, with an unknown role, or that say nothing',
      files: [
        planted('packages/a/src/taskState.ts'),
        planted('packages/a/src/task.service.ts'),
        planted('tests/helpers.test.ts'),
      ],
      problems: [
        'packages/a/src/taskState.ts:1: the file name is not kebab-case with a known role',
        'packages/a/src/task.service.ts:1: the file name is not kebab-case with a known role',
        'tests/helpers.test.ts:1: the file name says nothing; name the thing that is in it',
      ],
    },
    {
      title: 'a default export',
      files: [planted('packages/a/src/b.ts', '', 'export default class B {}')],
      problems: ['packages/a/src/b.ts:2: a default export; use a named one'],
    },
    {
      title: 'an index below src, and a package without one',
      files: [
        planted('packages/a/src/b/index.ts'),
        planted('packages/a/package.json', '{ "exports": "./src/b/index.ts" }'),
      ],
      problems: [
        'packages/a/src/b/index.ts:1: an index.ts may stand only directly in src of a package',
        'packages/a/package.json:1: the package has exports but no src/index.ts',
      ],
    },
    {
      title: 'the wrong word for a task, in code and comments',
      files: [
        planted('packages/a/src/b.ts', 'const jobId = 1;', 'submitJob();', '// Many jobs.'),
        planted('packages/a/src/c.ts', "f('JOB_ID');"),
      ],
      problems: [
        "packages/a/src/b.ts:1: 'job' is not a word of the glossary; say 'task'",
        "packages/a/src/b.ts:2: 'job' is not a word of the glossary; say 'task'",
        "packages/a/src/b.ts:3: 'job' is not a word of the glossary; say 'task'",
        "packages/a/src/c.ts:1: 'job' is not a word of the glossary; say 'task'",
      ],
    },
    {
      title: 'names that are fine',
      files: [
        planted('packages/a/src/index.ts', "f('export default');", '// Export default: never.'),
        planted('packages/a/src/task-types.test.ts', '// The jobless, Jobson and a hatjob.'),
        planted('packages/a/package.json', '{ "exports": "./src/index.ts" }'),
        planted('packages/b/package.json', '{ "bin": "bin/b" }'),
        planted('vitest.config.ts', 'export default {};'),
        planted('bench/peers/bullmq.ts', 'const job = 1;'),
      ],
      problems: [],
    },
  ],
};

function findInFile(file: SourceFile): string[] {
  return [
    ...findFileName(file).map((message) => `${file.path}:1: ${message}`),
    ...findDefaultExport(file),
    ...findWrongWord(file),
  ];
}

function findFileName(file: SourceFile): string[] {
  const name = path.basename(file.path);
  if (EMPTY_NAME.test(name)) return ['the file name says nothing; name the thing that is in it'];
  if (!FILE_NAME.test(name)) return ['the file name is not kebab-case with a known role'];
  const isIndex = /^index\.tsx?$/.test(name) && file.path.startsWith('packages/');
  if (isIndex && !/^packages\/[^/]+\/src\/index\.ts$/.test(file.path)) {
    return ['an index.ts may stand only directly in src of a package'];
  }
  return [];
}

function findDefaultExport(file: SourceFile): string[] {
  if (file.path === 'vitest.config.ts') return [];
  const code = blankLiterals(file.text);
  return [...code.matchAll(/\bexport\s+default\b|\bas\s+default\b/g)].map(
    ({ index }) => `${file.path}:${lineAt(code, index)}: a default export; use a named one`,
  );
}

function findWrongWord(file: SourceFile): string[] {
  if (!file.path.startsWith('packages/')) return [];
  return linesOf(file.text).flatMap((line, index) => {
    if (!WRONG_WORD.test(line)) return [];
    return [`${file.path}:${index + 1}: 'job' is not a word of the glossary; say 'task'`];
  });
}

function findMissingIndex(files: readonly SourceFile[]): string[] {
  const paths = new Set(files.map((file) => file.path));
  return files.flatMap((file) => {
    const folder = /^(packages\/[^/]+)\/package\.json$/.exec(file.path)?.[1];
    if (folder === undefined || !('exports' in JSON.parse(file.text))) return [];
    if (paths.has(`${folder}/src/index.ts`)) return [];
    return [`${file.path}:1: the package has exports but no src/index.ts`];
  });
}
