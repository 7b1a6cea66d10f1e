/** Describes in words what a schema allows, for error messages. */

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

/** The problem of a value that matches none of several forms. */
export function unionProblem({ anyOf = [], description }: WordedSchema): string {
  const why = description === undefined ? '' : ` (${description.replace(/\.$/, '')})`;
  if (anyOf.every((form) => form.const !== undefined)) {
    return `must be one of ${anyOf.map((form) => String(form.const)).join(', ')}`;
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
