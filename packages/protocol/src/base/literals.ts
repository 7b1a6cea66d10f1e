import { type TSchemaOptions, type TUnsafe, Type } from 'typebox';

/** One of these words. The type keeps the words, which a union of a mapped list would lose. */
export function literals<const T extends readonly string[]>(
  words: T,
  options: TSchemaOptions = {},
): TUnsafe<T[number]> {
  const union = Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  );
  return union as unknown as TUnsafe<T[number]>;
}
