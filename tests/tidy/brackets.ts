/** Pairs the brackets of a text whose literals are blanked. */

export interface Brackets {
  /** From each bracket's offset to that of its partner, in both directions. */
  readonly partner: ReadonlyMap<number, number>;
  /** From each opening bracket to the opening bracket around it. */
  readonly parent: ReadonlyMap<number, number>;
  /** The first bracket without a partner. */
  readonly unmatched: number | undefined;
}

const CLOSING = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);

export function pairBrackets(code: string): Brackets {
  const partner = new Map<number, number>();
  const parent = new Map<number, number>();
  const open: number[] = [];

  for (const { 0: bracket, index } of code.matchAll(/[()[\]{}]/g)) {
    const around = open.at(-1);
    if (CLOSING.has(bracket)) {
      if (around !== undefined) parent.set(index, around);
      open.push(index);
      continue;
    }
    if (around === undefined || CLOSING.get(code[around]) !== bracket) {
      return { partner, parent, unmatched: index };
    }
    open.pop();
    partner.set(around, index);
    partner.set(index, around);
  }
  return { partner, parent, unmatched: open[0] };
}
