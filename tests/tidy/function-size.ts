import { type Brackets, pairBrackets } from './brackets.ts';
import { findFunctions } from './function-bodies.ts';
import { blankLiterals } from './literals.ts';
import { isTypeScript, lineAt, planted, type SourceFile, type TidyCheck } from './repository.ts';

const FUNCTION_LINES_MAX = 70;

export const functionSize: TidyCheck = {
  name: 'function size',
  find: (files) => files.filter(isTypeScript).flatMap(findInFile),
  examples: [
    {
      title: 'a function with a return type in braces',
      files: [planted('a.ts', '', 'function f(): { a: string } {', ...statements(69), '}')],
      problems: ['a.ts:2: a function has 71 lines, at most 70 are allowed'],
    },
    {
      title: 'a method whose parameters take a line each',
      files: [planted('a.ts', 'class A {', 'm(', 'a: T,', '): T<U>[] {', ...statements(67), '}}')],
      problems: ['a.ts:2: a function has 71 lines, at most 70 are allowed'],
    },
    {
      title: 'an arrow function that returns a function type',
      files: [planted('a.ts', 'const f = (a: A): (() => void) => {', ...statements(69), '};')],
      problems: ['a.ts:1: a function has 71 lines, at most 70 are allowed'],
    },
    {
      title: 'an arrow function without parentheses',
      files: [planted('a.ts', 'const f = async a => {', ...statements(69), '};')],
      problems: ['a.ts:1: a function has 71 lines, at most 70 are allowed'],
    },
    {
      title: 'a type guard, and a function inside a template literal',
      files: [
        planted('a.ts', 'function f(a: A): a is B {', ...statements(69), '}'),
        planted('b.ts', 'g(`}${h(() => {', ...statements(69), '})}{`);'),
      ],
      problems: [
        'a.ts:1: a function has 71 lines, at most 70 are allowed',
        'b.ts:1: a function has 71 lines, at most 70 are allowed',
      ],
    },
    {
      title: 'a long test',
      files: [planted('a.test.ts', "test('a', async () => {", ...statements(69), '});')],
      problems: ['a.test.ts:1: a function has 71 lines, at most 70 are allowed'],
    },
    {
      title: 'a file whose braces do not pair, rather than measuring nothing',
      files: [planted('a.ts', 'function f() {', 'if (a) {', '}')],
      problems: ['a.ts:1: a bracket has no partner, so function sizes cannot be measured'],
    },
    {
      title: 'a function of exactly 70 lines',
      files: [planted('a.ts', 'function f(a = {}): Promise<{ b: B }> {', ...statements(68), '}')],
      problems: [],
    },
    {
      title: 'long blocks that are no functions',
      files: [
        planted('a.ts', 'if (a) {', ...statements(80), '}'),
        planted('b.ts', 'for await (const a of b) {', ...statements(80), '}'),
        planted('c.ts', 'class A extends mixin(B) {', ...statements(80), '}'),
        planted('d.ts', 'const a = b ? f(c) : {', ...statements(80), '};'),
      ],
      problems: [],
    },
    {
      title: 'the callback of a describe',
      files: [
        planted('a.test.ts', "describe('a', () => {", ...statements(80), '});'),
        planted('b.test.ts', "describe.each([1])('a', () => {", ...statements(80), '});'),
        planted('c.test.ts', "describe.each<A>([1])('a', () => {", ...statements(80), '});'),
      ],
      problems: [],
    },
    {
      title: 'braces in literals and comments',
      files: [
        planted(
          'a.ts',
          "f('{');",
          'f(/[/{]\\/{/g, a / b);',
          '// it is {',
          `f(\`{\${a}{\`, "\\"{");`,
        ),
        planted('b.tsx', "const a = <p>it's {b} / {c}</p>;", 'const d = <br />;'),
      ],
      problems: [],
    },
  ],
};

function findInFile(file: SourceFile): string[] {
  const code = blankLiterals(file.text);
  const brackets = pairBrackets(code);
  if (brackets.unmatched !== undefined) {
    const line = lineAt(code, brackets.unmatched);
    return [`${file.path}:${line}: a bracket has no partner, so function sizes cannot be measured`];
  }

  return findFunctions(code, brackets).flatMap(({ start, end }) => {
    const line = lineAt(code, start);
    const count = lineAt(code, end) - line + 1;
    if (count <= FUNCTION_LINES_MAX || isDescribeCallback(code, start, brackets)) return [];
    const limit = `at most ${FUNCTION_LINES_MAX} are allowed`;
    return [`${file.path}:${line}: a function has ${count} lines, ${limit}`];
  });
}

/** True inside `describe(…)` and inside the second call of `describe.each(…)(…)`. */
function isDescribeCallback(code: string, start: number, brackets: Brackets): boolean {
  let call = brackets.parent.get(start);
  if (call === undefined || code[call] !== '(') return false;
  if (code[call - 1] === ')') call = brackets.partner.get(call - 1) ?? call;
  return /\bdescribe(?:\.\w+(?:<\w+>)?)?$/.test(code.slice(Math.max(0, call - 60), call));
}

function statements(count: number): string[] {
  return Array.from({ length: count }, () => '  f();');
}
