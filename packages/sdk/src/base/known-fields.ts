import { suggest } from '@sluice/protocol/suggestion';

/** The names of all fields of a type; the compiler says when one is missing. */
export type FieldsOf<T> = Record<keyof T, true>;

/**
 * Refuses a field that does not exist. The compiler finds one in TypeScript; in plain JavaScript a
 * misspelled option would have no effect and nobody would be told.
 */
export function refuseUnknownFields(given: unknown, known: object, where: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const found = Array.isArray(given) ? 'a list' : `${given === null ? 'null' : typeof given}`;
    throw new TypeError(`${where} must be an object, not ${found}`);
  }
  const names = Object.keys(known);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new TypeError(unknown.map(problemIn(where, names)).join('; '));
}

function problemIn(where: string, names: readonly string[]): (unknown: string) => string {
  return (unknown) => {
    const near = suggest(unknown, names);
    const advice = near === undefined ? `use ${names.join(', ')}` : `did you mean '${near}'?`;
    return `${where} have no field '${unknown}'; ${advice}`;
  };
}
