import {
  isFields,
  pointerTo,
  REFERENCE,
  type Schema,
  type SchemaFields,
  type SchemaProblem,
} from './schema-form.ts';

/**
 * Bounds of one check. A schema with many alternatives that name each other could take time without
 * end, so the number of comparisons is counted; a schema without such alternatives needs about one
 * for each value in the input.
 */
const CHECKS_MAX = 200_000;
const DEPTH_MAX = 100;
const PROBLEMS_MAX = 50;
const NAMES_SHOWN = 20;

/** Comparisons that are left. Checks of one command share them. */
export class CheckBudget {
  left = CHECKS_MAX;
}

/** What does not fit a schema that has no problems itself: nothing, or at most 50 problems. */
export function valueProblems(
  schema: Schema,
  value: unknown,
  path = '',
  budget = new CheckBudget(),
): SchemaProblem[] {
  return new Check(schema, budget).run(value, path).slice(0, PROBLEMS_MAX);
}

/** Characters, fields and names that cost as much as one comparison. */
const COST_PER_CHECK = 16;

/** What a comparison looks at besides the value itself. */
function costOf(schema: Schema, value: unknown): number {
  if (typeof schema === 'boolean') return 0;
  const { required = [], enum: allowed = [] } = schema;
  const own =
    typeof value === 'string' ? value.length : isFields(value) ? Object.keys(value).length : 0;
  return required.length + allowed.length + own;
}

/** Thrown where the bounds of a check are reached. */
class TooMuch extends Error {
  override readonly name = 'TooMuch';
}

class Check {
  private readonly root: Schema;
  private readonly budget: CheckBudget;

  constructor(root: Schema, budget: CheckBudget) {
    this.root = root;
    this.budget = budget;
  }

  run(value: unknown, path: string): SchemaProblem[] {
    try {
      return this.part(this.root, value, { path, depth: 0 });
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      return [{ path, problem: error.message }];
    }
  }

  private part(schema: Schema, value: unknown, at: At): SchemaProblem[] {
    this.budget.left -= 1 + costOf(schema, value) / COST_PER_CHECK;
    if (this.budget.left < 0) throw new TooMuch('takes too long to check against the schema');
    if (at.depth > DEPTH_MAX) throw new TooMuch(`is nested more than ${DEPTH_MAX} deep`);
    if (schema === true) return [];
    const { path } = at;
    if (schema === false) return [{ path, problem: 'is not allowed' }];
    const { type } = schema;
    const types = typeof type === 'string' ? [type] : (type ?? []);
    if (types.length > 0 && !types.some((each) => isOfType(value, each))) {
      return [{ path, problem: `must be ${types.join(' or ')}` }];
    }
    return [
      ...valueRules(schema, value, path),
      ...this.combined(schema, value, at),
      ...(Array.isArray(value) ? this.list(schema, value, at) : []),
      ...(isFields(value) ? this.fields(schema, value, at) : []),
    ];
  }

  private combined(schema: SchemaFields, value: unknown, at: At): SchemaProblem[] {
    const { path } = at;
    const deeper = { path, depth: at.depth + 1 };
    const fits = (each: Schema) => this.part(each, value, deeper).length === 0;
    const problems = [
      ...(schema.$ref === undefined ? [] : this.part(this.named(schema.$ref), value, deeper)),
      ...(schema.allOf ?? []).flatMap((each) => this.part(each, value, deeper)),
    ];
    if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) {
      problems.push({ path, problem: `must fit one of ${forms(schema.anyOf)}` });
    }
    const found = schema.oneOf?.filter(fits).length ?? 1;
    if (found !== 1) {
      const all = forms(schema.oneOf ?? []);
      problems.push({ path, problem: `must fit exactly one of ${all}, and fits ${found}` });
    }
    if (schema.not !== undefined && fits(schema.not)) {
      problems.push({ path, problem: `must not fit ${forms([schema.not])}` });
    }
    return problems;
  }

  private named(reference: string): Schema {
    const [, place, name] = REFERENCE.exec(reference) ?? [];
    const parts = (this.root as SchemaFields)[place as '$defs' | 'definitions'];
    return parts?.[name] ?? true;
  }

  private list(schema: SchemaFields, value: readonly unknown[], at: At): SchemaProblem[] {
    const { items } = schema;
    if (items === undefined) return [];
    return this.each(value.entries(), at, () => items);
  }

  private fields(
    schema: SchemaFields,
    value: Readonly<Record<string, unknown>>,
    at: At,
  ): SchemaProblem[] {
    const { properties = {}, required = [], additionalProperties = true } = schema;
    const { path } = at;
    const missing = required.filter((name) => !Object.hasOwn(value, name)).slice(0, PROBLEMS_MAX);
    const known = Object.keys(properties).slice(0, NAMES_SHOWN).join(', ');
    const entries = Object.entries(value);
    const own = entries.filter(([name]) => Object.hasOwn(properties, name));
    const others = entries.filter(([name]) => !Object.hasOwn(properties, name));
    const unknown =
      additionalProperties === false
        ? others.slice(0, PROBLEMS_MAX).map(([name]) => ({
            path: pointerTo(path, name),
            problem: known === '' ? 'is not allowed' : `is not allowed; the fields are ${known}`,
          }))
        : this.each(others, at, () => additionalProperties);
    return [
      ...missing.map((name) => ({ path: pointerTo(path, name), problem: 'is required' })),
      ...this.each(own, at, (name) => properties[name]),
      ...unknown,
    ];
  }

  /** Ends early when there are more problems than are shown. */
  private each(
    entries: Iterable<readonly [string | number, unknown]>,
    { path, depth }: At,
    schemaOf: (name: string) => Schema,
  ): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    for (const [name, value] of entries) {
      const schema = schemaOf(String(name));
      const at = { path: pointerTo(path, name), depth: depth + 1 };
      for (const problem of this.part(schema, value, at)) problems.push(problem);
      if (problems.length >= PROBLEMS_MAX) break;
    }
    return problems;
  }
}

interface At {
  readonly path: string;
  readonly depth: number;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isFields(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

/** Rules about a value that look at no part of it. */
function valueRules(schema: SchemaFields, value: unknown, path: string): SchemaProblem[] {
  const problems: string[] = [];
  const { enum: allowed, const: only } = schema;
  if (allowed !== undefined && !allowed.some((each) => each === value)) {
    problems.push(`must be one of ${texts(allowed)}`);
  }
  if (only !== undefined && only !== value) problems.push(`must be ${JSON.stringify(only)}`);
  if (typeof value === 'number') problems.push(...numberRules(schema, value));
  if (typeof value === 'string') {
    const { minLength, maxLength } = schema;
    const isBounded = minLength !== undefined || maxLength !== undefined;
    const length = isBounded ? [...value].length : 0;
    if (isBounded) problems.push(...bounds(length, minLength, maxLength, 'characters'));
  } else if (Array.isArray(value)) {
    problems.push(...bounds(value.length, schema.minItems, schema.maxItems, 'items'));
  } else if (isFields(value)) {
    const { length } = Object.keys(value);
    problems.push(...bounds(length, schema.minProperties, schema.maxProperties, 'fields'));
  }
  return problems.map((problem) => ({ path, problem }));
}

function numberRules(schema: SchemaFields, value: number): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    ...(minimum !== undefined && value < minimum ? [`must be >= ${minimum}`] : []),
    ...(maximum !== undefined && value > maximum ? [`must be <= ${maximum}`] : []),
    ...(exclusiveMinimum !== undefined && value <= exclusiveMinimum
      ? [`must be > ${exclusiveMinimum}`]
      : []),
    ...(exclusiveMaximum !== undefined && value >= exclusiveMaximum
      ? [`must be < ${exclusiveMaximum}`]
      : []),
    ...(multipleOf !== undefined && !Number.isInteger(value / multipleOf)
      ? [`must be a multiple of ${multipleOf}`]
      : []),
  ];
}

function bounds(
  size: number,
  least: number | undefined,
  most: number | undefined,
  what: string,
): string[] {
  return [
    ...(least !== undefined && size < least ? [`must have at least ${least} ${what}`] : []),
    ...(most !== undefined && size > most ? [`must have at most ${most} ${what}`] : []),
  ];
}

const FORM_LENGTH_MAX = 200;

/** Alternatives as they stand in the schema. */
function forms(schemas: readonly Schema[]): string {
  return schemas
    .slice(0, NAMES_SHOWN)
    .map((each) => shortened(JSON.stringify(each)))
    .join(', ');
}

function texts(values: readonly unknown[]): string {
  const shown = values.slice(0, NAMES_SHOWN).map((each) => shortened(JSON.stringify(each)));
  return `${shown.join(', ')}${values.length > NAMES_SHOWN ? ', …' : ''}`;
}

function shortened(text: string): string {
  return text.length > FORM_LENGTH_MAX ? `${text.slice(0, FORM_LENGTH_MAX)}…` : text;
}
