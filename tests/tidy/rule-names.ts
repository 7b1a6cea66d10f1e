/**
 * Rules that other places cite have names, such as `queue.open-lanes`.
 *
 * A line of a block comment that begins with a name and a colon defines it. Every other name is a
 * citation: anywhere in a comment, and in parentheses in a string, such as a test title. In a
 * document a citation is in parentheses or backticks. Names have a hyphen after the dot, which
 * tells them from fields and files.
 */
import { findLiterals } from './literals.ts';
import {
  isMarkdown,
  isTypeScript,
  lineAt,
  linesOf,
  planted,
  type SourceFile,
  type TidyCheck,
} from './repository.ts';

const WORD = String.raw`[a-z\d]+`;
const SHAPE = String.raw`${WORD}(?:-${WORD})*\.${WORD}(?:-${WORD})+`;
const NAME = String.raw`(?<![\w./@-])${SHAPE}(?![\w/(-]|\.\w)`;
const NAMES = new RegExp(NAME, 'g');
const DEFINITION = new RegExp(String.raw`^( *\* )(${NAME}): `);
const CITED_IN_STRING = new RegExp(String.raw`\(${NAME}(?:, ${NAME})*\)`, 'g');
const CITED_IN_DOCUMENT = new RegExp(
  String.raw`\(${NAME}(?:, ${NAME})*\)|${'`'}${NAME}${'`'}`,
  'g',
);

const LABELS = /(?<![\w./-])[A-Z]{1,2}\d{1,2}(?!\w)/g;
const LABELS_IN_TITLE = /\([A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*\)/g;
/** The laws of ARCHITECTURE.md. */
const LAW = /^L(?:[1-9]|10)$/;
/** What the simulator's checkers report: docs/internals/simulator.md. */
const CHECKER = /^I\d+$/;
/** A JavaScript engine, and two sets of control characters. */
const NO_LABELS = new Set(['V8', 'C0', 'C1']);
const HAS_TITLES = /\.test\.tsx?$|^packages\/simulator\/src\/mutants\//;

interface Mention {
  readonly path: string;
  readonly line: number;
  readonly name: string;
}

interface Mentions {
  readonly definitions: Mention[];
  readonly citations: Mention[];
  readonly labels: Mention[];
}

const defined = planted(
  'packages/a/src/b.ts',
  '/**',
  ' * b.one-list: A task is in one list.',
  ' */',
);
const cite = (...names: string[]): string => `(${names.join(', ')})`;

export const ruleNames: TidyCheck = {
  name: 'names of rules',
  find: (files) => {
    const mentions = files.map(mentionsIn);
    const definitions = mentions.flatMap((each) => each.definitions);
    return [
      ...findRepeated(definitions),
      ...findUndefined(
        mentions.flatMap((each) => each.citations),
        definitions,
      ),
      ...mentions.flatMap((each) => each.labels).map(describeLabel),
    ];
  },
  examples: [
    {
      title: 'a name that two comments define',
      files: [defined, planted('tests/c.ts', '/**', ' * b.one-list: Another rule.', ' */')],
      problems: ["tests/c.ts:2: 'b.one-list' is defined in packages/a/src/b.ts:2, too"],
    },
    {
      title: 'names that no comment defines: in comments, test titles, strings and documents',
      files: [
        defined,
        planted('a.ts', '// A task has a timer', `// ${cite('b.one-list', 'b.one-timer')}.`),
        planted('a.test.ts', `test('a task waits ${cite('c.one-list')}', f);`),
        planted('c.ts', `const what = 'It waits ${cite('b.one-lists')}: here not.';`),
        planted('docs/a.md', `It waits ${cite('b.two-lists')}.`, 'See `b.no-list`.'),
      ],
      problems: [
        "a.ts:2: no comment defines the rule 'b.one-timer'",
        "a.test.ts:1: no comment defines the rule 'c.one-list'",
        "c.ts:1: no comment defines the rule 'b.one-lists'",
        "docs/a.md:1: no comment defines the rule 'b.two-lists'",
        "docs/a.md:2: no comment defines the rule 'b.no-list'",
      ],
    },
    {
      title: 'labels of letters and numbers, in comments and titles',
      files: [
        planted('a.ts', '/**', ' * Q1 Text.', ' * - Q2: Text, see AB12.', ' */', 'f(); // (L11)'),
        planted('packages/core/src/a.ts', '/** I1: text. */'),
        planted('a.test.ts', "test('a task waits (M1, L3)', f);"),
        planted('packages/simulator/src/mutants/a.ts', "f('It waits (K2): here not.');"),
      ],
      problems: [
        "a.ts:2: 'Q1' is a label; give the rule a name or none",
        "a.ts:3: 'Q2' is a label; give the rule a name or none",
        "a.ts:3: 'AB12' is a label; give the rule a name or none",
        "a.ts:5: 'L11' is a label; give the rule a name or none",
        "packages/core/src/a.ts:1: 'I1' is a label; give the rule a name or none",
        "a.test.ts:1: 'M1' is a label; give the rule a name or none",
        "packages/simulator/src/mutants/a.ts:1: 'K2' is a label; give the rule a name or none",
      ],
    },
    {
      title: 'names that are defined, laws, numbers of checkers, and what only looks similar',
      files: [
        defined,
        planted('a.ts', `// ${cite('b.one-list')}, welcome.lost, a.some-file.ts, x/a.b-c, V8`),
        planted('a.test.ts', `test('it waits ${cite('b.one-list')}', f);`, "f('M1', 'a.db-wal');"),
        planted('packages/simulator/src/a.ts', '/** I27, and L1 to L10. */'),
        planted('docs/a.md', 'It waits (`b.one-list`), see a.some-page and `a.test-d.ts`. Q1.'),
      ],
      problems: [],
    },
  ],
};

function findRepeated(definitions: readonly Mention[]): string[] {
  const first = new Map<string, Mention>();
  return definitions.flatMap((each) => {
    const other = first.get(each.name);
    if (other === undefined) first.set(each.name, each);
    if (other === undefined) return [];
    const where = `${other.path}:${other.line}`;
    return [`${each.path}:${each.line}: '${each.name}' is defined in ${where}, too`];
  });
}

function findUndefined(citations: readonly Mention[], definitions: readonly Mention[]): string[] {
  const known = new Set(definitions.map(({ name }) => name));
  return citations
    .filter(({ name }) => !known.has(name))
    .map(({ path, line, name }) => `${path}:${line}: no comment defines the rule '${name}'`);
}

function describeLabel({ path, line, name }: Mention): string {
  return `${path}:${line}: '${name}' is a label; give the rule a name or none`;
}

function mentionsIn(file: SourceFile): Mentions {
  const mentions: Mentions = { definitions: [], citations: [], labels: [] };
  if (isMarkdown(file)) readDocument(file, mentions);
  // Few files mention a rule; only those are worth the scan for literals.
  if (!isTypeScript(file)) return mentions;
  if (file.text.search(NAMES) < 0 && file.text.search(LABELS) < 0) return mentions;

  for (const { kind, start, end } of findLiterals(file.text)) {
    const literal = { path: file.path, text: file.text.slice(start, end) };
    if (kind === 'comment') readComment(literal, lineAt(file.text, start), mentions);
    else if (kind !== 'regex') readString(literal, lineAt(file.text, start), mentions);
  }
  return mentions;
}

function readDocument({ path, text }: SourceFile, { citations }: Mentions): void {
  for (const [index, content] of linesOf(text).entries()) {
    const cited = content.match(CITED_IN_DOCUMENT) ?? [];
    for (const name of namesIn(cited)) citations.push({ path, line: index + 1, name });
  }
}

function readComment({ path, text }: SourceFile, start: number, mentions: Mentions): void {
  for (const [index, content] of text.split('\n').entries()) {
    const line = start + index;
    const [head = '', , definition] = DEFINITION.exec(content) ?? [];
    if (definition !== undefined) mentions.definitions.push({ path, line, name: definition });
    for (const name of namesIn([content.slice(head.length)])) {
      mentions.citations.push({ path, line, name });
    }
    for (const name of labelsIn(path, [content])) mentions.labels.push({ path, line, name });
  }
}

/** The line of the literal stands for those of a template literal that has more of them. */
function readString({ path, text }: SourceFile, line: number, mentions: Mentions): void {
  const cited = text.match(CITED_IN_STRING) ?? [];
  for (const name of namesIn(cited)) mentions.citations.push({ path, line, name });
  const titles = HAS_TITLES.test(path) ? (text.match(LABELS_IN_TITLE) ?? []) : [];
  for (const name of labelsIn(path, titles)) mentions.labels.push({ path, line, name });
}

function namesIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(NAMES) ?? []);
}

function labelsIn(path: string, texts: readonly string[]): string[] {
  const isSimulator = path.startsWith('packages/simulator/');
  return texts
    .flatMap((text) => text.match(LABELS) ?? [])
    .filter((label) => !LAW.test(label) && !NO_LABELS.has(label))
    .filter((label) => !(isSimulator && CHECKER.test(label)));
}
