/**
 * JSON Schema as the standard reads it, for the keywords that the API's document uses. It shares no
 * code with the server, which checks requests with a library. An unknown keyword throws, because a
 * check that passes over a rule proves nothing.
 */

export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly examples?: readonly unknown[];
}

/** As RFC 3986 has it. There a port is any number of digits. */
const URI = /^[a-z][a-z0-9+.-]*:(?:[!#$&-;=?-Z[\]_a-z~]|%[0-9A-F]{2})+$/i;

type Rule = (schema: Required<JsonSchema>, value: unknown) => boolean;

/** Each rule holds for values that it is not about, as the standard says. */
const RULES: Readonly<Record<string, Rule>> = {
  type: ({ type }, value) => isOfType(type, value),
  const: (schema, value) => JSON.stringify(schema.const) === JSON.stringify(value),
  anyOf: ({ anyOf }, value) => anyOf.some((each) => conforms(each, value)),
  oneOf: ({ oneOf }, value) => oneOf.filter((each) => conforms(each, value)).length === 1,
  allOf: ({ allOf }, value) => allOf.every((each) => conforms(each, value)),
  not: ({ not }, value) => !conforms(not, value),
  properties: ({ properties }, value) =>
    fieldsOf(value).every(([name, field]) => {
      return !Object.hasOwn(properties, name) || conforms(properties[name], field);
    }),
  patternProperties: ({ patternProperties }, value) =>
    fieldsOf(value).every(([name, field]) => {
      const fitting = Object.entries(patternProperties).filter(([text]) => fits(text, name));
      return fitting.every(([, each]) => conforms(each, field));
    }),
  additionalProperties: ({ additionalProperties, ...schema }, value) => {
    if (additionalProperties === true) return true;
    const others = fieldsOf(value).filter(([name]) => !isNamed(schema, name));
    if (additionalProperties === false) return others.length === 0;
    return others.every(([, field]) => conforms(additionalProperties, field));
  },
  required: ({ required }, value) => !isObject(value) || hasAll(value, required),
  dependentRequired: ({ dependentRequired }, value) =>
    !isObject(value) ||
    Object.entries(dependentRequired).every(([name, others]) => {
      return !Object.hasOwn(value, name) || hasAll(value, others);
    }),
  minProperties: ({ minProperties }, value) =>
    !isObject(value) || Object.keys(value).length >= minProperties,
  maxProperties: ({ maxProperties }, value) =>
    !isObject(value) || Object.keys(value).length <= maxProperties,
  items: ({ items }, value) =>
    !Array.isArray(value) || value.every((item) => conforms(items, item)),
  minItems: ({ minItems }, value) => !Array.isArray(value) || value.length >= minItems,
  maxItems: ({ maxItems }, value) => !Array.isArray(value) || value.length <= maxItems,
  uniqueItems: ({ uniqueItems }, value) =>
    !uniqueItems ||
    !Array.isArray(value) ||
    new Set(value.map((item) => JSON.stringify(item))).size === value.length,
  minimum: ({ minimum }, value) => typeof value !== 'number' || value >= minimum,
  maximum: ({ maximum }, value) => typeof value !== 'number' || value <= maximum,
  multipleOf: ({ multipleOf }, value) => typeof value !== 'number' || isMultiple(value, multipleOf),
  minLength: ({ minLength }, value) =>
    typeof value !== 'string' || charactersIn(value) >= minLength,
  maxLength: ({ maxLength }, value) =>
    typeof value !== 'string' || charactersIn(value) <= maxLength,
  pattern: ({ pattern }, value) => typeof value !== 'string' || fits(pattern, value),
  format: ({ format }, value) => typeof value !== 'string' || isOfFormat(format, value),
  description: () => true,
  default: () => true,
  examples: () => true,
};

/** Whether the schema allows the value. */
export function conforms(schema: JsonSchema, value: unknown): boolean {
  return Object.keys(schema).every((keyword) => {
    const rule = RULES[keyword];
    if (rule === undefined) throw new Error(`the keyword '${keyword}' is not known here`);
    return rule(schema as Required<JsonSchema>, value);
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'object') return isObject(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function fieldsOf(value: unknown): [name: string, field: unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

function hasAll(value: object, names: readonly string[]): boolean {
  return names.every((name) => Object.hasOwn(value, name));
}

function isNamed({ properties = {}, patternProperties = {} }: JsonSchema, name: string): boolean {
  return (
    Object.hasOwn(properties, name) ||
    Object.keys(patternProperties).some((each) => fits(each, name))
  );
}

function fits(pattern: string, text: string): boolean {
  return new RegExp(pattern, 'u').test(text);
}

/** The standard counts characters, not the halves of surrogate pairs. */
function charactersIn(text: string): number {
  return [...text].length;
}

/** 0.003 is a multiple of 0.001, though the quotient of these doubles is not whole. */
function isMultiple(value: number, of: number): boolean {
  return Math.abs(value / of - Math.round(value / of)) < 1e-6;
}

function isOfFormat(format: string, text: string): boolean {
  if (format === 'date-time') return !Number.isNaN(Date.parse(text));
  if (format === 'uri') return URI.test(text);
  throw new Error(`the format '${format}' is not known here`);
}
