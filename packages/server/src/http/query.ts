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

interface SchemaShape {
  readonly type?: string;
  readonly anyOf?: readonly SchemaShape[];
}

function takesNumbers({ type, anyOf = [] }: SchemaShape): boolean {
  return type === 'integer' || type === 'number' || anyOf.some(takesNumbers);
}
