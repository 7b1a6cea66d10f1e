import {
  type ErrorDetail,
  meantForm,
  nameProblem,
  patternProblem,
  SluiceError,
  unionProblem,
  type WordedSchema,
} from '@sluice/protocol';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { valueAt } from './json-pointer.ts';

/** Maximum number of problems found in one value; each costs time and space in the answer. */
Settings.Set({ maxErrors: 50 });

/** Each schema is compiled once. */
const COMPILED = new WeakMap<TSchema, Validator>();

/** Checks values against a schema and reports every problem by JSON pointer. */
export class Checker<T extends TSchema> {
  readonly schema: T;
  private readonly compiled: Validator;

  constructor(schema: T) {
    this.schema = schema;
    this.compiled = COMPILED.get(schema) ?? Compile(schema as TSchema);
    COMPILED.set(schema, this.compiled);
  }

  accepts(value: unknown): value is Static<T> {
    return this.compiled.Check(value);
  }

  /** The problems of a refused value: at least one, at most a screenful. */
  problems(value: unknown, path = ''): ErrorDetail[] {
    // Where several forms are allowed, listing what each of them misses helps no reader.
    const unions = new Map<string, SchemaError>();
    const errors = this.compiled.Errors(value).map((error) => asUnion(error));
    for (const error of errors) {
      if (error.keyword === 'anyOf') unions.set(error.instancePath, error);
    }
    const meant = this.meantForms(unions.values(), value);
    const isMeant = ({ instancePath: at }: SchemaError) =>
      [...meant.keys()].some((union) => at === union || at.startsWith(`${union}/`));
    const others = errors.filter(({ instancePath }) => !unions.has(instancePath));
    const details = [...unions.values(), ...others]
      .filter((error) => !isMeant(error))
      .flatMap((error) => explain(error, { path, schema: this.schema, value }));
    for (const [at, form] of meant) {
      details.push(...new Checker(form).problems(valueAt(value, at), path + at));
    }
    // A refused value has at least one problem, whatever the library reports.
    return details.length > 0 ? details : [{ path, problem: 'is not valid' }];
  }

  /** The forms of objects whose fields say which form they were meant to have, by path. */
  private meantForms(unions: Iterable<SchemaError>, value: unknown): Map<string, TSchema> {
    const meant = new Map<string, TSchema>();
    for (const { schemaPath, instancePath } of unions) {
      const union = partOf(this.schema, schemaPath) as { readonly anyOf?: readonly TSchema[] };
      const form = meantForm(union, valueAt(value, instancePath));
      if (form !== undefined) meant.set(instancePath, form);
    }
    return meant;
  }

  /** Returns the typed value, or throws `invalid_request` with every problem. */
  parse(value: unknown, what: string): Static<T> {
    if (this.accepts(value)) return value;
    throw invalid(what, this.problems(value));
  }
}

export function invalid(what: string, details: readonly ErrorDetail[]): SluiceError {
  const first = details[0];
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const where = first.path === '' ? '' : `${first.path} `;
  return new SluiceError('invalid_request', `${what}: ${where}${first.problem}${more}`, {
    details,
  });
}

interface SchemaError {
  readonly keyword: string;
  /** Location of the schema rule, as a pointer: `#/properties/window/anyOf/0`. */
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** Turns the failure of one form of a union into the failure of the union. */
function asUnion(error: SchemaError): SchemaError {
  const [, union] = /^(.*)\/anyOf\/\d+$/.exec(error.schemaPath) ?? [];
  return union === undefined ? error : { ...error, keyword: 'anyOf', schemaPath: union };
}

/** The part of a schema that a pointer names. */
function partOf(schema: TSchema, pointer: string): WordedSchema {
  let part: unknown = schema;
  for (const name of pointer.split('/').slice(1)) {
    part = (part as Record<string, unknown> | undefined)?.[name];
  }
  return (part ?? {}) as WordedSchema;
}

/** What was checked, and its path in the request. */
interface Refused {
  readonly path: string;
  readonly schema: TSchema;
  readonly value: unknown;
}

/** One problem per field: unknown and missing fields are reported by their own names. */
function explain(error: SchemaError, { path, schema, value }: Refused): ErrorDetail[] {
  const at = path + error.instancePath;
  const found = valueAt(value, error.instancePath);
  const params = error.params as { requiredProperties?: unknown };
  switch (error.keyword) {
    case 'boolean':
      // A field that no schema names has the schema `false`.
      return [{ path: at, problem: nameProblem(partOf(schema, parentOf(error.schemaPath))) }];
    case 'additionalProperties':
      // Lists the names of the fields that are reported one by one above.
      return [];
    case 'anyOf':
      return [{ path: at, problem: unionProblem(partOf(schema, error.schemaPath), found) }];
    case 'pattern':
      return [{ path: at, problem: patternProblem(partOf(schema, error.schemaPath)) }];
    case 'required':
      return names(params.requiredProperties).map((name) => ({
        path: `${at}/${escapePointer(name)}`,
        problem: 'is required',
      }));
    default:
      return [{ path: at, problem: error.message }];
  }
}

function parentOf(pointer: string): string {
  return pointer.slice(0, pointer.lastIndexOf('/'));
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
