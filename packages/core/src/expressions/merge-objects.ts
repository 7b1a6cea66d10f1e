import type { Utf8 } from '../base/utf8.ts';
import { type JsonRange, membersOf, textOf } from './json-bytes.ts';
import type { JsonWriter } from './json-writer.ts';

const OPEN = 0x7b;
const CLOSE = 0x7d;
const COLON = 0x3a;

/** Writes an object with the members of both; those of `over` win. */
export function mergeObjects(
  base: JsonRange,
  over: JsonRange,
  { into, utf8 }: { readonly into: JsonWriter; readonly utf8: Utf8 },
): void {
  const replaced = new Set<string>();
  for (const { name } of membersOf(over)) replaced.add(textOf(name, utf8));
  let count = 0;
  const add = (name: JsonRange, value: JsonRange): void => {
    if (count > 0) into.comma();
    into.range(name);
    into.byte(COLON);
    into.range(value);
    count += 1;
  };
  into.byte(OPEN);
  for (const { name, value } of membersOf(base)) {
    if (!replaced.has(textOf(name, utf8))) add(name, value);
  }
  for (const { name, value } of membersOf(over)) add(name, value);
  into.byte(CLOSE);
}
