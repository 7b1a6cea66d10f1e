import {
  isFields,
  isScalar,
  pointerTo,
  REFERENCE,
  type Schema,
  type SchemaProblem,
  TYPES,
} from './schema-form.ts';

/** Bounds of a schema. */
const PARTS_MAX = 1000;
const DEPTH_MAX = 32;
const VALUES_MAX = 1000;

/** Says what is wrong with the value of a keyword; undefined when nothing is. */
type Rule = (value: unknown) => string | undefined;

const count: Rule = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0
    ? undefined
    : 'must be a whole number from 0 on';

const finite: Rule = (value) => (Number.isFinite(value) ? undefined : 'must be a number');

const positive: Rule = (value) =>
  Number.isFinite(value) && (value as number) > 0 ? undefined : 'must be a number above 0';

const names: Rule = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
    ? undefined
    : 'must be a list of field names';

const types: Rule = (value) => {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  const isKnown = all.every((each) => TYPES.some((type) => type === each));
  return all.length > 0 && isKnown ? undefined : `must be one of ${TYPES.join(', ')}, or a list`;
};

const scalar: Rule = (value) =>
  isScalar(value) ? undefined : 'must be a text, a number, true, false or null';

const scalars: Rule = (value) =>
  Array.isArray(value) && value.length > 0 && value.length <= VALUES_MAX && value.every(isScalar)
    ? undefined
    : `must be a list of 1 to ${VALUES_MAX} texts, numbers, true, false or null`;

const RULES: Readonly<Record<string, Rule>> = {
  type: types,
  enum: scalars,
  const: scalar,
  required: names,
  minProperties: count,
  maxProperties: count,
  minItems: count,
  maxItems: count,
  minLength: count,
  maxLength: count,
  minimum: finite,
  maximum: finite,
  exclusiveMinimum: finite,
  exclusiveMaximum: finite,
  multipleOf: positive,
};

const ONE_SCHEMA = ['additionalProperties', 'items', 'not'];
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf'];
const NAMED_SCHEMAS = ['properties', '$defs', 'definitions'];

/** They say something to a reader, and refuse no value. */
const NOTES = new Set(
  `$schema $id $comment title description default examples format deprecated readOnly writeOnly
  contentMediaType contentEncoding`.split(/\s+/),
);

const KNOWN = [...Object.keys(RULES), ...ONE_SCHEMA, ...SCHEMA_LISTS, ...NAMED_SCHEMAS, '$ref'];

interface Part {
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/** Everything that is wrong with a schema. */
export function schemaProblems(schema: unknown, path: string): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const waiting: Part[] = [{ value: schema, path, depth: 1 }];
  for (let looked = 0; waiting.length > 0; looked++) {
    const part = waiting.pop() as Part;
    if (looked === PARTS_MAX) {
      problems.push({ path, problem: `has more than ${PARTS_MAX} parts` });
      break;
    }
    if (part.depth > DEPTH_MAX) {
      problems.push({ path: part.path, problem: `is nested more than ${DEPTH_MAX} deep` });
    } else if (isFields(part.value)) waiting.push(...inside(part, schema, problems).reverse());
    else if (typeof part.value !== 'boolean') {
      problems.push({
        path: part.path,
        problem: 'must be a JSON Schema: an object, true or false',
      });
    }
  }
  return problems;
}

/** A schema without problems, as the checks use it. */
export function usableSchema(schema: unknown): Schema | undefined {
  return schemaProblems(schema, '').length === 0 ? (schema as Schema) : undefined;
}

/** The parts of a part. What is wrong with its own keywords is added to the problems. */
function inside({ value, path, depth }: Part, root: unknown, problems: SchemaProblem[]): Part[] {
  const parts: Part[] = [];
  for (const [keyword, given] of Object.entries(value as object)) {
    const at = pointerTo(path, keyword);
    const add = (part: unknown, where: string): void => {
      parts.push({ value: part, path: where, depth: depth + 1 });
    };
    if (ONE_SCHEMA.includes(keyword)) add(given, at);
    else if (SCHEMA_LISTS.includes(keyword)) {
      if (!Array.isArray(given) || given.length === 0) {
        problems.push({ path: at, problem: 'must be a list with at least one schema' });
      } else for (const [index, each] of given.entries()) add(each, pointerTo(at, index));
    } else if (NAMED_SCHEMAS.includes(keyword)) {
      if (!isFields(given)) problems.push({ path: at, problem: 'must be an object of schemas' });
      else for (const [name, each] of Object.entries(given)) add(each, pointerTo(at, name));
    } else {
      const problem = keywordProblem(keyword, given, root);
      if (problem !== undefined) problems.push({ path: at, problem });
    }
  }
  return parts;
}

function keywordProblem(keyword: string, value: unknown, root: unknown): string | undefined {
  if (keyword === '$ref') return referenceProblem(value, root);
  if (Object.hasOwn(RULES, keyword)) return RULES[keyword](value);
  if (NOTES.has(keyword) || keyword.startsWith('x-')) return undefined;
  return `is not supported here; use ${KNOWN.join(', ')}, or set enforceSchema to false`;
}

function referenceProblem(value: unknown, root: unknown): string | undefined {
  const [, place, name] = REFERENCE.exec(String(value)) ?? [];
  if (name === undefined) return 'must name a part of this schema: "#/$defs/NAME"';
  const parts = isFields(root) ? root[place] : undefined;
  const isThere = isFields(parts) && Object.hasOwn(parts, name);
  return isThere ? undefined : `names "${name}", which is not in ${place}`;
}
