import {
  meantForm,
  nameProblem,
  patternProblem,
  unionProblem,
} from '@sluice/protocol/schema-words';
import type { ErrorDetail } from '../../calls/http-answers.ts';

/** The part of JSON Schema that our requests use. A keyword that is missing here fails a test. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly allowed?: string;
  readonly allowedNames?: string;
  readonly formBy?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** The problems that a server would report for a JSON value. */
export function schemaProblems(schema: Schema, value: unknown, path = ''): ErrorDetail[] {
  if (schema.anyOf !== undefined) {
    const meant = meantForm(schema, value);
    if (meant !== undefined) return schemaProblems(meant, value, path);
    const fits = schema.anyOf.some((form) => schemaProblems(form, value).length === 0);
    return fits ? [] : [{ path, problem: unionProblem(schema, value) }];
  }
  if (schema.type !== undefined && !isOfType(value, schema.type)) {
    return [{ path, problem: `must be ${schema.type}` }];
  }
  if (schema.const !== undefined && value !== schema.const) {
    return [{ path, problem: `must be ${JSON.stringify(schema.const)}` }];
  }
  if (typeof value === 'string') return textProblems(schema, value, path);
  if (typeof value === 'number') {
    return boundProblems({ min: schema.minimum, max: schema.maximum }, value, path);
  }
  if (Array.isArray(value)) return arrayProblems(schema, value, path);
  if (typeof value === 'object' && value !== null) return objectProblems(schema, value, path);
  return [];
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

interface Bounds {
  readonly min: number | undefined;
  readonly max: number | undefined;
}

function boundProblems({ min, max }: Bounds, size: number, path: string, of = ''): ErrorDetail[] {
  if (min !== undefined && size < min) return [{ path, problem: `must be >= ${min}${of}` }];
  if (max !== undefined && size > max) return [{ path, problem: `must be <= ${max}${of}` }];
  return [];
}

function textProblems(schema: Schema, text: string, path: string): ErrorDetail[] {
  const { pattern, minLength, maxLength } = schema;
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) {
    return [{ path, problem: patternProblem(schema) }];
  }
  const { length } = [...text];
  return boundProblems({ min: minLength, max: maxLength }, length, path, ' characters');
}

function arrayProblems(schema: Schema, list: readonly unknown[], path: string): ErrorDetail[] {
  const { items = {}, minItems, maxItems } = schema;
  return [
    ...boundProblems({ min: minItems, max: maxItems }, list.length, path, ' items'),
    ...list.flatMap((item, index) => schemaProblems(items, item, `${path}/${index}`)),
  ];
}

function objectProblems(schema: Schema, value: object, path: string): ErrorDetail[] {
  const { required = [], minProperties, maxProperties, additionalProperties = true } = schema;
  const fields = Object.entries(value);
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...boundProblems({ min: minProperties, max: maxProperties }, fields.length, path, ' fields'),
    ...missing.map((name) => ({ path: `${path}/${name}`, problem: 'is required' })),
    ...fields.flatMap(([name, field]) => {
      const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const own = fieldSchema(schema, name);
      if (own !== undefined) return schemaProblems(own, field, at);
      return additionalProperties ? [] : [{ path: at, problem: nameProblem(schema) }];
    }),
  ];
}

function fieldSchema({ properties = {}, patternProperties = {} }: Schema, name: string) {
  if (Object.hasOwn(properties, name)) return properties[name];
  return Object.entries(patternProperties).find(([pattern]) => {
    return new RegExp(pattern, 'u').test(name);
  })?.[1];
}
