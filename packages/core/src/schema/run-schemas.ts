import { isBlobReference } from '../base/blob-reference.ts';
import type { Utf8 } from '../base/utf8.ts';
import type { PayloadRange } from '../structures/payload-range.ts';
import { CheckBudget, valueProblems } from './check-value.ts';
import type { DefinitionSchemas } from './definition-schemas.ts';
import { isFields, type SchemaProblem } from './schema-form.ts';

/** What a definition says about the input of its runs. */
interface InputRules {
  readonly schemas: DefinitionSchemas;
  /** JSON texts by field. */
  readonly inputDefaults: ReadonlyMap<string, string>;
}

/** What is wrong with the input of a run, with its defaults. No input counts as `{}`. */
export function inputProblems(
  { schemas, inputDefaults }: InputRules,
  input: PayloadRange,
  utf8: Utf8,
  budget = new CheckBudget(),
): SchemaProblem[] {
  if (schemas.input === undefined) return [];
  const given = input.start === input.end ? {} : parsed(input, utf8);
  if (!isFields(given)) return valueProblems(schemas.input, given, '', budget);
  const defaults = [...inputDefaults].map(([name, text]) => [name, JSON.parse(text)]);
  const whole = { ...Object.fromEntries(defaults), ...given };
  return valueProblems(schemas.input, whole, '', budget);
}

/** What is wrong with the output of a run. An output that is a blob is not looked at. */
export function outputProblems(
  { output: schema }: DefinitionSchemas,
  output: PayloadRange,
  utf8: Utf8,
): SchemaProblem[] {
  const { bytes, start, end } = output;
  if (schema === undefined || isBlobReference(bytes, start, end - start)) return [];
  return valueProblems(schema, start === end ? null : parsed(output, utf8));
}

/** The first problem, and how many more there are. */
export function problemsText(problems: readonly SchemaProblem[]): string {
  const [{ path, problem }] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  return `${path === '' ? 'it' : path} ${problem}${more}`;
}

function parsed({ bytes, start, end }: PayloadRange, utf8: Utf8): unknown {
  return JSON.parse(utf8.decode(bytes.subarray(start, end)));
}
