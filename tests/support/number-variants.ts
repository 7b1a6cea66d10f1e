import type { JsonSchema } from './json-schema.ts';

/** A schema in which one number is fixed, and every property on the path to it is required. */
export interface NumberVariant {
  /** The schema of that number alone, with its bounds. */
  readonly number: JsonSchema;
  /** The number is given as text: JSON.stringify would write -0 as 0, and round inexact numbers. */
  holding(text: string): JsonSchema;
}

/** Numbers that code tends to handle wrongly, in any schema. */
const ODD_NUMBERS = ['0', '-0', '-1', '0.5', '1.5', '12345', '2147483647', '2147483648'].concat(
  ['4294967295', '4294967296', '9007199254740991', '9007199254740992', '9007199254740993'],
  ['1e300', '-1e300'],
);

/** Values to try for one number: the odd ones, its bounds, and their neighbours. */
export function numbersToTry({ minimum = 0, maximum = 0 }: JsonSchema): string[] {
  const bounds = [minimum, maximum].flatMap((bound) => [bound - 1, bound, bound + 1]);
  const odd = minimum + 2 * Math.floor((maximum - minimum) / 4) + 1;
  return [...new Set([...ODD_NUMBERS, ...[...bounds, odd].map(String)])];
}

/** One variant for each number in the schema, at any depth. */
export function numberVariants(schema: JsonSchema): NumberVariant[] {
  const { type, anyOf, items, properties = {}, patternProperties = {}, required = [] } = schema;
  if (type === 'integer' || type === 'number') {
    return [{ number: schema, holding: (text) => ({ const: MARK + text }) }];
  }
  const inChoices = (anyOf ?? []).flatMap(numberVariants);
  const inItems = variantsOf(items, (held) => ({ ...schema, items: held, minItems: 1 }));
  const named = [...Object.entries(properties), ...Object.values(patternProperties).map(asNamed)];
  const inProperties = named.flatMap(([name, each]) =>
    variantsOf(each, (held) => ({
      ...schema,
      properties: { ...properties, [name]: held },
      required: [...required, name],
    })),
  );
  return [...inChoices, ...inItems, ...inProperties];
}

/** JSON with the fixed numbers exactly as they were written. */
export function unmarked(json: string): string {
  return json.replace(/"\\u0001([^"]*)"/g, '$1');
}

/** The same for text outside JSON. */
export function unmarkedText(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

const MARK = '\u0001';

function asNamed(schema: JsonSchema): [name: string, schema: JsonSchema] {
  return ['any', schema];
}

function variantsOf(
  schema: JsonSchema | undefined,
  around: (held: JsonSchema) => JsonSchema,
): NumberVariant[] {
  if (schema === undefined) return [];
  return numberVariants(schema).map(({ number, holding }) => ({
    number,
    holding: (text) => around(holding(text)),
  }));
}
