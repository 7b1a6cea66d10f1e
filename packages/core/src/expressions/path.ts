import type { Utf8 } from '../base/utf8.ts';
import { elementsOf, isText, type JsonRange, kindOf, membersOf, textOf } from './json-bytes.ts';
import type { JsonWriter } from './json-writer.ts';
import type { FoundSource, ValuePart } from './template.ts';

/** Where the value at the end of a path is written. */
interface Target {
  readonly utf8: Utf8;
  readonly into: JsonWriter;
}

const NULL = Uint8Array.from([0x6e, 0x75, 0x6c, 0x6c]);
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Writes the value at the end of the path; null when there is none, or no source. */
export function writePath(source: FoundSource | undefined, part: ValuePart, target: Target): void {
  const { path, isLength } = part.expression;
  const used = source?.used ?? 0;
  const all = path.findIndex(({ kind }, place) => place >= used && kind === 'all');
  const to = all < 0 ? path.length : all;
  const found =
    source === undefined ? undefined : follow(source.range, part, { from: used, to }, target.utf8);
  if (all >= 0) return writeAll(found, part, all, target);
  if (found === undefined) target.into.copy(NULL);
  else if (isLength && source?.isFinal !== true) {
    writeText(String(lengthOf(found, target.utf8)), target);
  } else target.into.range(found);
}

/** An array of what the rest of the path finds in each element; empty without an array. */
function writeAll(
  found: JsonRange | undefined,
  part: ValuePart,
  all: number,
  target: Target,
): void {
  const { into, utf8 } = target;
  const { path, isLength } = part.expression;
  let count = 0;
  if (!isLength) into.byte(OPEN_ARRAY);
  for (const element of childrenOf(found)) {
    const each = follow(element, part, { from: all + 1, to: path.length }, utf8);
    if (each === undefined) continue;
    if (!isLength) {
      if (count > 0) into.comma();
      into.range(each);
    }
    count += 1;
  }
  if (isLength) writeText(String(count), target);
  else into.byte(CLOSE_ARRAY);
}

function* childrenOf(found: JsonRange | undefined): Iterable<JsonRange> {
  if (found === undefined) return;
  if (kindOf(found) === 'array') yield* elementsOf(found);
  else if (kindOf(found) === 'object') for (const { value } of membersOf(found)) yield value;
}

/** Follows some steps of a path; undefined when one of them leads nowhere. */
function follow(
  range: JsonRange,
  { expression, names }: ValuePart,
  { from, to }: { readonly from: number; readonly to: number },
  utf8: Utf8,
): JsonRange | undefined {
  let found: JsonRange | undefined = range;
  for (let place = from; place < to && found !== undefined; place++) {
    const step = expression.path[place];
    if (step.kind === 'name') found = member(found, names[place], utf8);
    else if (step.kind === 'index') found = element(found, step.index);
    else return undefined;
  }
  return found;
}

function member(range: JsonRange, wanted: Uint8Array, utf8: Utf8): JsonRange | undefined {
  if (kindOf(range) !== 'object') return undefined;
  for (const { name, value } of membersOf(range)) if (isText(name, wanted, utf8)) return value;
  return undefined;
}

/** Negative indexes count from the end. */
function element(range: JsonRange, index: number): JsonRange | undefined {
  if (kindOf(range) !== 'array') return undefined;
  if (index < 0) return [...elementsOf(range)].at(index);
  let place = 0;
  for (const each of elementsOf(range)) if (place++ === index) return each;
  return undefined;
}

/** Elements of an array, members of an object, characters of a text. */
function lengthOf(range: JsonRange, utf8: Utf8): number | null {
  const kind = kindOf(range);
  if (kind === 'string') return textOf(range, utf8).length;
  if (kind !== 'array' && kind !== 'object') return null;
  let count = 0;
  for (const _ of childrenOf(range)) count += 1;
  return count;
}

function writeText(text: string, { utf8, into }: Target): void {
  into.copy(utf8.encode(text));
}
