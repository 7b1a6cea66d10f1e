/**
 * The part of JSON Schema that definitions may use. A keyword outside of it is refused: a rule that
 * is silently ignored would be worse. Everything in it takes bounded time, so there are no regular
 * expressions and no references to other documents.
 */
export type Schema = boolean | SchemaFields;

export interface SchemaFields {
  readonly type?: string | readonly string[];
  readonly enum?: readonly Scalar[];
  readonly const?: Scalar;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

export type Scalar = string | number | boolean | null;

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

/** The two places where a schema may keep parts that `$ref` names. */
export const REFERENCE = /^#\/(\$defs|definitions)\/([^/~%]+)$/;

export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** A part of a schema or of a value that does not fit. */
export interface SchemaProblem {
  /** JSON pointer. */
  readonly path: string;
  readonly problem: string;
}

const NAME_LENGTH_MAX = 100;

/** A field name in a JSON pointer; a very long one is cut. */
export function pointerTo(path: string, name: string | number): string {
  const short = String(name).slice(0, NAME_LENGTH_MAX);
  return `${path}/${short.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
