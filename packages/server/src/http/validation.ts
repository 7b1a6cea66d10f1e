import { type ErrorDetail, SluiceError } from '@sluice/protocol';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** Checks values against a schema and says all that is wrong with one, by JSON pointer. */
export class Checker<T extends TSchema> {
  private readonly compiled;

  constructor(schema: T) {
    this.compiled = Compile(schema);
  }

  accepts(value: unknown): value is Static<T> {
    return this.compiled.Check(value);
  }

  problems(value: unknown, path = ''): ErrorDetail[] {
    const errors = this.compiled.Errors(value);
    // Where several forms are allowed, what each of them misses helps nobody.
    const unions = new Set(
      errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath),
    );
    return errors
      .filter(({ keyword, instancePath }) => keyword === 'anyOf' || !unions.has(instancePath))
      .flatMap((error) => explain(error, path));
  }

  /** Answers the value with its type, or throws `invalid_request` with every problem. */
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
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/** One problem per field: unknown and missing fields are reported by their own names. */
function explain(error: SchemaError, path: string): ErrorDetail[] {
  const at = path + error.instancePath;
  const params = error.params as { additionalProperties?: unknown; requiredProperties?: unknown };
  switch (error.keyword) {
    case 'boolean':
      // Comes beside `additionalProperties`, which says the same with the field's name.
      return [];
    case 'anyOf':
      return [{ path: at, problem: 'has none of the allowed forms' }];
    case 'additionalProperties':
      return names(params.additionalProperties).map((name) => ({
        path: `${at}/${escapePointer(name)}`,
        problem: 'is not a known field',
      }));
    case 'required':
      return names(params.requiredProperties).map((name) => ({
        path: `${at}/${escapePointer(name)}`,
        problem: 'is required',
      }));
    default:
      return [{ path: at, problem: error.message }];
  }
}

function names(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
