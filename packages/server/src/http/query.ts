import type { Static, TSchema } from 'typebox';
import type { Checker } from '../base/validation.ts';

/** Parses a query string by its schema. Text becomes a number where the schema takes one. */
export function parseQuery<T extends TSchema>(checker: Checker<T>, query: unknown): Static<T> {
  const { properties } = checker.schema as unknown as { properties: Record<string, SchemaShape> };
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query as Record<string, unknown>)) {
    const isNumber = typeof text === 'string' && /^-?\d{1,15}$/.test(text);
    const property = Object.hasOwn(properties, name) ? properties[name] : {};
    values[name] = isNumber && takesNumbers(property) ? Number(text) : text;
  }
  return checker.parse(values, 'the query string is not valid');
}

const TAG_PREFIX = 'tag.';

/** Tags of a filter, `tag.NAME=VALUE`. They have arbitrary names, so no schema can list them. */
export function tagsInQuery(query: Record<string, unknown>) {
  const isTag = ([name]: [string, unknown]) => name.startsWith(TAG_PREFIX);
  const entries = Object.entries(query);
  const tags: Record<string, string> = {};
  for (const [name, value] of entries.filter(isTag)) {
    // A tag that appears twice becomes one joined value, which matches neither.
    tags[name.slice(TAG_PREFIX.length)] = String(value);
  }
  return { tags, plain: Object.fromEntries(entries.filter((entry) => !isTag(entry))) };
}

interface SchemaShape {
  readonly type?: string;
  readonly anyOf?: readonly SchemaShape[];
}

function takesNumbers({ type, anyOf = [] }: SchemaShape): boolean {
  return type === 'integer' || type === 'number' || anyOf.some(takesNumbers);
}
