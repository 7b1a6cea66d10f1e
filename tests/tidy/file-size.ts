import { findLiterals } from './literals.ts';
import { findHeadings } from './markdown.ts';
import {
  isMarkdown,
  isTypeScript,
  lineAt,
  linesOf,
  planted,
  type SourceFile,
  type TidyCheck,
} from './repository.ts';

const FILE_LINES_MAX = 400;
const README_LINES_MAX = 119;
const COLUMNS_MAX = 100;
const CHARACTERS_MAX = 1_000_000;

export const fileSize: TidyCheck = {
  name: 'file size',
  find: (files) =>
    files.flatMap((file) => [...findBulk(file), ...findLength(file), ...findHeadingCount(file)]),
  examples: [
    {
      title: 'a file that somebody left lying around',
      files: [planted('dump', 'x'.repeat(1_000_000)), planted('small', 'x'.repeat(999_999))],
      problems: ['dump:1: the file has 1000001 characters, at most 1000000 are allowed'],
    },
    {
      title: 'a long file, and a long README',
      files: [planted('a.tsx', ...lines(401)), planted('README.md', '# A', ...lines(119))],
      problems: [
        'a.tsx:401: the file has 401 lines, at most 400 are allowed',
        'README.md:120: the file has 120 lines, at most 119 are allowed',
      ],
    },
    {
      title: 'two titles, and none',
      files: [planted('a.md', '# A', '', '# B'), planted('b.md', '## A')],
      problems: [
        'a.md:3: the file has 2 first-level headings, exactly one is needed',
        'b.md:1: the file has 0 first-level headings, exactly one is needed',
      ],
    },
    {
      title: 'files just within the limit',
      files: [planted('a.ts', ...lines(400)), planted('README.md', '# A', ...lines(118))],
      problems: [],
    },
    {
      title: 'one title, and a comment in a code block',
      files: [planted('a.md', '# A', '', '```sh', '# not a title', '```', '', '## B')],
      problems: [],
    },
  ],
};

export const lineWidth: TidyCheck = {
  name: 'line width',
  find: (files) => files.flatMap(findWidth),
  examples: [
    {
      title: 'a long line of code, of a script, and with a short template literal in it',
      files: [
        planted('a.ts', '', `f(${'a'.repeat(99)});`),
        planted('b.mjs', `// ${'a'.repeat(98)}`),
        planted('c.ts', `f(\`a\`, ${'a'.repeat(99)});`),
      ],
      problems: [
        'a.ts:2: the line has 103 columns, at most 100 are allowed',
        'b.mjs:1: the line has 101 columns, at most 100 are allowed',
        'c.ts:1: the line has 108 columns, at most 100 are allowed',
      ],
    },
    {
      title: 'a line of exactly 100 columns, counted in characters',
      files: [planted('a.ts', `f(${'😀'.repeat(96)});`)],
      problems: [],
    },
    {
      title: 'lines that cannot be broken',
      files: [
        planted('a.ts', `// https://example.com/${'a'.repeat(99)}`),
        planted('b.ts', `f(\`${'a'.repeat(99)}\`);`, `f(/${'a'.repeat(99)}/);`),
        planted('a.md', `# ${'a'.repeat(200)}`),
      ],
      problems: [],
    },
  ],
};

/** No source file is that large on purpose. */
function findBulk({ path, text }: SourceFile): string[] {
  if (text.length <= CHARACTERS_MAX) return [];
  const limit = `at most ${CHARACTERS_MAX} are allowed`;
  return [`${path}:1: the file has ${text.length} characters, ${limit}`];
}

function findLength(file: SourceFile): string[] {
  const isReadme = /(?:^|\/)README\.md$/.test(file.path);
  if (!isReadme && !isTypeScript(file)) return [];
  const max = isReadme ? README_LINES_MAX : FILE_LINES_MAX;
  const count = linesOf(file.text).length;
  if (count <= max) return [];
  return [`${file.path}:${count}: the file has ${count} lines, at most ${max} are allowed`];
}

function findHeadingCount(file: SourceFile): string[] {
  if (!isMarkdown(file)) return [];
  const titles = findHeadings(file.text).filter(({ level }) => level === 1);
  if (titles.length === 1) return [];
  const line = titles.at(-1)?.line ?? 1;
  const count = titles.length;
  return [
    `${file.path}:${line}: the file has ${count} first-level headings, exactly one is needed`,
  ];
}

function findWidth(file: SourceFile): string[] {
  if (!/\.(?:tsx?|mjs|css)$/.test(file.path)) return [];
  const allLines = linesOf(file.text);
  // Nearly every file has no long line. Only the others need the scan for literals.
  if (allLines.every((line) => line.length <= COLUMNS_MAX)) return [];
  const unbreakable = linesWithLongLiteral(file.text);

  return allLines.flatMap((line, index) => {
    const columns = [...line].length;
    if (columns <= COLUMNS_MAX || /https?:\/\//.test(line) || unbreakable.has(index + 1)) return [];
    const limit = `at most ${COLUMNS_MAX} are allowed`;
    return [`${file.path}:${index + 1}: the line has ${columns} columns, ${limit}`];
  });
}

/**
 * Lines with a template literal or regular expression that is too long. Formatters cannot break
 * them.
 */
function linesWithLongLiteral(text: string): Set<number> {
  const found = new Set<number>();
  for (const { kind, start, end } of findLiterals(text)) {
    if (kind !== 'template' && kind !== 'regex') continue;
    let line = lineAt(text, start);
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    for (const part of text.slice(lineStart, end).split('\n')) {
      if (part.length > COLUMNS_MAX) found.add(line);
      line++;
    }
  }
  return found;
}

function lines(count: number): string[] {
  return Array.from({ length: count }, () => 'f();');
}
