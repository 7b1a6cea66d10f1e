import fc, { type Arbitrary } from 'fast-check';

/** As much of JSON Schema as the API's document uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
}

/** So many of a list at the most: long ones are slow to make and show nothing more. */
const ITEMS_MAX = 4;

const STRANGE_TEXTS = ['', ' ', '\u0000', '😀', '../..', '__proto__', '1e999', 'null', '\'"<>&%00'];

/** Any JSON at all. */
const anything: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as Arbitrary<unknown>,
  fc.constantFrom<unknown>(...STRANGE_TEXTS, -1, 1e308, 2 ** 53, 0.1, [], {}, [[[[]]]]),
);

/** Values that a schema asks for, and now and then one that it does not, at any place. */
export function valuesOf(schema: JsonSchema): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 99, arbitrary: rightValue(schema) },
    { weight: 1, arbitrary: anything },
  );
}

function rightValue(schema: JsonSchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valuesOf));
  const made = byType(schema);
  const { examples = [] } = schema;
  return examples.length === 0 ? made : fc.oneof(made, fc.constantFrom(...examples));
}

function byType(schema: JsonSchema): Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'array': {
      const maxLength = Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX);
      return fc.array(valuesOf(schema.items ?? {}), {
        minLength: Math.min(schema.minItems ?? 0, maxLength),
        maxLength,
      });
    }
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -10, max: Math.min(schema.maximum ?? 1e6, 1e9) });
    case 'number':
      return fc.double({ min: schema.minimum ?? -10, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return anything;
  }
}

function textOf({ pattern, minLength = 0, maxLength = 50 }: JsonSchema): Arbitrary<string> {
  // A look-ahead, which nobody can draw from, only keeps two names free.
  if (pattern !== undefined)
    return fc.stringMatching(new RegExp(pattern.replace(/\(\?!.*?\$\)/, '')));
  return fc.string({ minLength, maxLength: Math.min(maxLength, 50), unit: 'grapheme' });
}

function objectOf(schema: JsonSchema): Arbitrary<unknown> {
  const { properties = {}, patternProperties = {}, required = [] } = schema;
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valuesOf(each)])),
    { requiredKeys: required as never[] },
  );
  const [values] = Object.values(patternProperties);
  if (values === undefined) return known;
  const named = fc.dictionary(fc.string({ maxLength: 10 }), valuesOf(values), { maxKeys: 3 });
  return fc.tuple(known, named).map(([first, second]) => ({ ...second, ...(first as object) }));
}
