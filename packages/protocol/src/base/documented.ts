/**
 * Rules for which the message of a schema would not help: code checks them and says what is wrong
 * (`task-rules.ts`). The OpenAPI document contains them as JSON Schema, below `documented`, so that
 * a client that follows the document is refused only for what the document forbids.
 */
interface Documented {
  readonly documented?: object;
  /** Words for messages (`schema-words.ts`), which are no keywords of JSON Schema. */
  readonly allowed?: string;
  readonly allowedNames?: string;
  readonly formBy?: readonly string[];
}

const WORDS = ['documented', 'allowed', 'allowedNames', 'formBy'];

type Pair = readonly [string, string];

/** At most one field of each pair may be given. */
export function notTogether(...pairs: readonly Pair[]) {
  return { allOf: pairs.map((required) => ({ not: { required } })) };
}

/** Exactly one of these fields must be given. */
export function exactlyOne(...names: readonly string[]) {
  return { oneOf: names.map((name) => ({ required: [name] })) };
}

/** These fields do not go with a value that the other schema describes. */
export function notWith(other: object, ...names: readonly string[]) {
  return names.map((name) => ({ not: { ...other, required: [name] } }));
}

/** The published document, including the rules that only code checks. */
export function withDocumented(document: object): object {
  const text = JSON.stringify(document, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if (!WORDS.some((word) => word in value)) return value;
    const { documented, ...rest } = value as Documented;
    const { allowed: _, allowedNames: __, formBy: ___, ...schema } = rest;
    return { ...schema, ...documented };
  });
  return JSON.parse(text) as object;
}
