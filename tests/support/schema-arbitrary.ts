import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema } from './json-schema.ts';

export interface ValueOptions {
  /** Existing texts, by the name of the property that holds one or a list of them. */
  readonly pools?: Readonly<Record<string, readonly string[]>>;
  /** Only required properties, and nothing that the schema forbids. */
  readonly isLean?: boolean;
}

/** Longer lists are slow to make and show nothing more. */
const ITEMS_MAX = 4;

const STRANGE_TEXTS = ['', ' ', '\u0000', '😀', '../..', '__proto__', '1e999', 'null', '\'"<>&%00'];

const STRANGE_NUMBERS = [0, -0, -1, 0.5, 1.5, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e300];

/** Any JSON value. */
const anything: Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as Arbitrary<unknown>,
  fc.constantFrom<unknown>(...STRANGE_TEXTS, ...STRANGE_NUMBERS, [], {}, [[[[]]]]),
);

/** Values that match a schema, and sometimes one that does not, at any place. */
export function valuesOf(schema: JsonSchema, options: ValueOptions = {}): Arbitrary<unknown> {
  return new Values(options).of(schema, '');
}

class Values {
  private readonly pools: NonNullable<ValueOptions['pools']>;
  private readonly isLean: boolean;

  constructor({ pools = {}, isLean = false }: ValueOptions) {
    this.pools = pools;
    this.isLean = isLean;
  }

  of(schema: JsonSchema, name: string): Arbitrary<unknown> {
    const right = this.right(schema, name);
    if (this.isLean) return right;
    return fc.oneof({ weight: 99, arbitrary: right }, { weight: 1, arbitrary: anything });
  }

  private right(schema: JsonSchema, name: string): Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.anyOf !== undefined) {
      return fc.oneof(...schema.anyOf.map((each) => this.of(each, name)));
    }
    const made = this.byType(schema, name);
    const { examples = [] } = schema;
    return examples.length === 0 || this.isLean
      ? made
      : fc.oneof(made, fc.constantFrom(...examples));
  }

  private byType(schema: JsonSchema, name: string): Arbitrary<unknown> {
    switch (schema.type) {
      case 'object':
        return this.object(schema);
      case 'array': {
        const max = Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX);
        const minLength = Math.min(schema.minItems ?? 0, max);
        const maxLength = this.isLean ? minLength : max;
        return fc.array(this.of(schema.items ?? {}, name), { minLength, maxLength });
      }
      case 'string':
        return this.text(schema, name);
      case 'integer':
      case 'number':
        return this.number(schema);
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return anything;
    }
  }

  /** Often at a bound or odd, because the middle of a range hides most mistakes. */
  private number({ type, minimum = -10, maximum = 1e6 }: JsonSchema): Arbitrary<number> {
    const max = Math.min(maximum, 1e9);
    const within =
      type === 'integer'
        ? fc.integer({ min: minimum, max })
        : fc.double({ min: minimum, max, noNaN: true });
    const special = [minimum, minimum + 1, maximum - 1, maximum, 12_345, ...STRANGE_NUMBERS];
    const isRight = (value: number) =>
      value >= minimum && value <= maximum && (type === 'number' || Number.isSafeInteger(value));
    const edges = fc.constantFrom(...special.filter(isRight));
    if (this.isLean) return fc.oneof(within, edges);
    const beyond = fc.constantFrom(minimum - 1, maximum + 1, ...STRANGE_NUMBERS);
    return fc.oneof(
      { weight: 20, arbitrary: within },
      { weight: 10, arbitrary: edges },
      { weight: 1, arbitrary: beyond },
    );
  }

  private text(schema: JsonSchema, name: string): Arbitrary<string> {
    const made = textOf(schema);
    const pool = this.pools[name];
    if (pool === undefined) return made;
    // The pool is read when a value is made, because it grows while the server answers.
    const there = fc.tuple(fc.nat(), made).map(([place, otherwise]) => {
      return pool[place % Math.max(1, pool.length)] ?? otherwise;
    });
    if (this.isLean) return there;
    return fc.oneof({ weight: 6, arbitrary: there }, { weight: 1, arbitrary: made });
  }

  private object(schema: JsonSchema): Arbitrary<unknown> {
    const { properties = {}, patternProperties = {}, required = [] } = schema;
    const wanted = Object.entries(properties).filter(
      ([name]) => !this.isLean || required.includes(name),
    );
    const known = fc.record(
      Object.fromEntries(wanted.map(([name, each]) => [name, this.of(each, name)])),
      { requiredKeys: required as never[] },
    );
    const [values] = Object.values(patternProperties);
    if (values === undefined || this.isLean) return known;
    const named = fc.dictionary(fc.string({ maxLength: 10 }), this.of(values, ''), { maxKeys: 3 });
    return fc.tuple(known, named).map(([first, second]) => ({ ...second, ...(first as object) }));
  }
}

function textOf({ pattern, minLength = 0, maxLength = 50 }: JsonSchema): Arbitrary<string> {
  if (pattern === undefined) {
    return fc.string({ minLength, maxLength: Math.min(maxLength, 50), unit: 'grapheme' });
  }
  const texts = fc.stringMatching(new RegExp(withoutLookaheads(pattern)));
  return pattern.includes('(?!') ? texts.filter((text) => new RegExp(pattern).test(text)) : texts;
}

/** The library cannot draw for `(?!…)`. What it draws without is filtered. */
export function withoutLookaheads(pattern: string): string {
  const start = pattern.indexOf('(?!');
  if (start === -1) return pattern;
  let depth = 0;
  let end = start;
  do {
    if (pattern[end] === '\\') end += 1;
    else if (pattern[end] === '(') depth += 1;
    else if (pattern[end] === ')') depth -= 1;
    end += 1;
  } while (depth > 0);
  return withoutLookaheads(pattern.slice(0, start) + pattern.slice(end));
}
