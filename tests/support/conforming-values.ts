import fc, { type Arbitrary } from 'fast-check';
import { conforms, type JsonSchema } from './json-schema.ts';
import { withoutLookaheads } from './schema-arbitrary.ts';

/** Longer lists and more names of the author's choice are slow to make and show nothing more. */
const ITEMS_MAX = 4;

/** Texts are drawn up to this length, and at their exact bound if that is not far beyond. */
const DRAWN_LENGTH_MAX = 30;
const FULL_LENGTH_MAX = 4096;

const ABSENT = Symbol('absent');

/** One JavaScript character each, two, and one that is combined with another. */
const FILLERS = ['a', '😀', 'e\u0301'];

const TIMES = [
  '2030-01-01T00:00:00.000Z',
  '1971-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  '2030-02-28T10:00:00+05:30',
  '2032-02-29T23:59-0800',
];

/** Values that the schema allows: any of them may come, the odd ones more often. */
export function conformingValues(schema: JsonSchema): Arbitrary<unknown> {
  const made = valuesOf(schema).filter((value) => conforms(schema, value));
  const examples = (schema.examples ?? []).filter((each) => conforms(schema, each));
  if (examples.length === 0) return made;
  return fc.oneof(
    { weight: 5, arbitrary: made },
    { weight: 1, arbitrary: fc.constantFrom(...examples) },
  );
}

function valuesOf(schema: JsonSchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.type === undefined && schema.anyOf !== undefined)
    return fc.oneof(...schema.anyOf.map(conformingValues));
  switch (schema.type) {
    case 'object':
      return objects(schema);
    case 'array':
      return arrays(schema);
    case 'string':
      return texts(schema);
    case 'integer':
    case 'number':
      return numbers(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function objects(schema: JsonSchema): Arbitrary<unknown> {
  const { properties = {}, required = [] } = schema;
  const alternatives = exclusive(schema);
  const fields = Object.entries(properties).map(([name, each]) => {
    const field = conformingValues(each);
    if (required.includes(name) || alternatives.includes(name)) return field;
    // Most fields are absent, so that the few that are there are seen in many combinations.
    return fc.oneof(
      { weight: 4, arbitrary: fc.constant<unknown>(ABSENT) },
      { weight: 1, arbitrary: field },
    );
  });
  return fc
    .tuple(namedByAuthor(schema), fc.nat(), fc.tuple(...fields))
    .map(([others, choice, values]) => {
      const chosen = alternatives[choice % Math.max(1, alternatives.length)];
      const known = Object.keys(properties)
        .map((name, place) => [name, values[place]] as const)
        .filter(([, value]) => value !== ABSENT)
        .filter(([name]) => name === chosen || !alternatives.includes(name));
      return related(schema, { ...others, ...Object.fromEntries(known) });
    });
}

/** Exactly one of these fields must be there. */
function exclusive({ oneOf = [] }: JsonSchema): string[] {
  const names = oneOf.map(({ required = [], ...others }) =>
    Object.keys(others).length === 0 ? required : [],
  );
  return names.every(({ length }) => length === 1) ? names.flat() : [];
}

/** Without fields that exclude each other, or that need one which is not there. */
function related(schema: JsonSchema, value: Record<string, unknown>): Record<string, unknown> {
  for (const { not } of schema.allOf ?? []) {
    if (not?.required === undefined || !conforms(not, value)) continue;
    const free = not.required.filter((name) => !schema.required?.includes(name));
    delete value[free[free.length - 1]];
  }
  for (const [name, others] of Object.entries(schema.dependentRequired ?? {})) {
    if (!others.every((other) => Object.hasOwn(value, other))) delete value[name];
  }
  return value;
}

/** Fields whose names the schema leaves open. */
function namedByAuthor(schema: JsonSchema): Arbitrary<Record<string, unknown>> {
  const { patternProperties = {}, additionalProperties = true, properties } = schema;
  const maxKeys = Math.min(ITEMS_MAX, schema.maxProperties ?? ITEMS_MAX);
  const [named] = Object.entries(patternProperties);
  if (named !== undefined) {
    const [pattern, each] = named;
    return fc.dictionary(texts({ pattern }), conformingValues(each), { maxKeys });
  }
  if (additionalProperties === false) return fc.constant({});
  const values = conformingValues(additionalProperties === true ? {} : additionalProperties);
  const names = fc.string({ maxLength: 10 }).filter((name) => properties?.[name] === undefined);
  return fc.dictionary(names, values, { maxKeys });
}

function arrays({ items = {}, minItems = 0, maxItems, uniqueItems }: JsonSchema) {
  const max = Math.max(minItems, Math.min(maxItems ?? ITEMS_MAX, ITEMS_MAX));
  const each = conformingValues(items);
  const length = { minLength: minItems, maxLength: max };
  if (uniqueItems !== true) return fc.array(each, length);
  return fc.uniqueArray(each, { ...length, selector: (item) => JSON.stringify(item) });
}

/** Often at a bound, because the middle of a range hides most mistakes. */
function numbers({ type, minimum = -1e9, maximum = 1e9, multipleOf }: JsonSchema) {
  const bounds = fc.constantFrom(minimum, maximum);
  if (type === 'integer') return fc.oneof(fc.integer({ min: minimum, max: maximum }), bounds);
  if (multipleOf === undefined) {
    return fc.oneof(fc.double({ min: minimum, max: maximum, noNaN: true }), bounds);
  }
  const parts = Math.round(1 / multipleOf);
  const whole = fc.integer({ min: Math.ceil(minimum * parts), max: Math.floor(maximum * parts) });
  return fc.oneof(
    whole.map((value) => value / parts),
    bounds,
  );
}

function texts(schema: JsonSchema): Arbitrary<string> {
  const { pattern, format, minLength = 0, maxLength = DRAWN_LENGTH_MAX } = schema;
  if (format === 'uri') return fc.webUrl({ validSchemes: ['http', 'https'] });
  if (format === 'date-time') {
    const seconds = {
      min: new Date('1971-01-01'),
      max: new Date('9999-01-01'),
      noInvalidDate: true,
    };
    return fc.oneof(
      fc.date(seconds).map((date) => date.toISOString()),
      fc.constantFrom(...TIMES),
    );
  }
  if (pattern !== undefined) {
    return fc.stringMatching(new RegExp(withoutLookaheads(pattern), 'u'));
  }
  const drawn = fc.string({
    minLength,
    maxLength: Math.min(maxLength, DRAWN_LENGTH_MAX),
    unit: 'grapheme',
  });
  if (schema.maxLength === undefined || maxLength > FULL_LENGTH_MAX) return drawn;
  const full = fc.constantFrom(...FILLERS).map((filler) => {
    return filler.repeat(Math.floor(maxLength / [...filler].length));
  });
  return fc.oneof({ weight: 4, arbitrary: drawn }, { weight: 1, arbitrary: full });
}
