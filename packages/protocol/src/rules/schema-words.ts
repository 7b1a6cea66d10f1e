/** Describes in words what a schema allows, for error messages. */
import { suggest } from '../base/suggestion.ts';

/** The part of JSON Schema that is described in words. */
export interface WordedSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly WordedSchema[];
  readonly pattern?: string;
  /** Says in words what `pattern` matches, with an example; it follows "must be". */
  readonly allowed?: string;
  /** The same for the names of fields that the user chooses. */
  readonly allowedNames?: string;
  /** For several forms of an object: the field that each form, and no other, has. */
  readonly formBy?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
  readonly examples?: unknown;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

/** Longer texts are no misspelled words, and comparing them takes time. */
const WORD_MAX = 40;

/**
 * The form that an object was meant to have; undefined when the schema does not say by what. Then
 * only the problems of that form help a reader.
 */
export function meantForm<T>(
  {
    anyOf = [],
    formBy = [],
  }: { readonly anyOf?: readonly T[]; readonly formBy?: readonly string[] },
  value: unknown,
): T | undefined {
  if (formBy.length === 0 || typeof value !== 'object' || value === null) return undefined;
  return anyOf[
    Math.max(
      0,
      formBy.findIndex((name) => Object.hasOwn(value, name)),
    )
  ];
}

/** The problem of a value that matches none of several forms. */
export function unionProblem({ anyOf = [], description }: WordedSchema, value?: unknown): string {
  const why = description === undefined ? '' : ` (${description.replace(/\.$/, '')})`;
  if (anyOf.every((form) => form.const !== undefined)) {
    const words = anyOf.map((form) => String(form.const));
    const isWord = typeof value === 'string' && value.length <= WORD_MAX;
    const near = isWord ? suggest(value, words) : undefined;
    const hint = near === undefined ? '' : `; did you mean '${near}'?`;
    return `must be one of ${words.join(', ')}${hint}`;
  }
  return `must be ${anyOf.map(formText).join(' or ')}${why}`;
}

/** The problem of a string that does not match its pattern. */
export function patternProblem({ pattern, allowed }: WordedSchema): string {
  return `must be ${allowed ?? `text that matches ${pattern}`}`;
}

/** The problem of a field whose name the schema of its object does not allow. */
export function nameProblem({ allowedNames }: WordedSchema): string {
  if (allowedNames === undefined) return 'is not a known field';
  return `has a name that is not allowed: names are ${allowedNames}`;
}

function formText(schema: WordedSchema): string {
  const { type = '', minimum, maximum, pattern, allowed } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map(formText).join(' or ');
  if (type === 'integer' || type === 'number') {
    const kind = type === 'integer' ? 'a whole number' : 'a number';
    const from = minimum === undefined ? '' : ` from ${minimum}`;
    return `${kind}${from}${maximum === undefined ? '' : ` to ${maximum}`}`;
  }
  if (pattern === undefined) return TYPES[type] ?? 'a value';
  return allowed ?? `text that matches ${pattern}`;
}
