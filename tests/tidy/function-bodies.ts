/**
 * Finds functions, methods and arrow functions with a block body in a text with blanked literals.
 *
 * A function is a parameter list, perhaps a return type, perhaps an arrow, and a brace. The return
 * type is what makes this hard: in `f(): { a: string } {` only the second brace opens the body.
 */
import type { Brackets } from './brackets.ts';

interface FunctionSpan {
  /** Where the parameters begin. */
  readonly start: number;
  /** The closing brace of the body. */
  readonly end: number;
}

const WORDS_BEFORE_BLOCK = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await']);
const TYPE_PREFIXES = new Set('keyof typeof readonly unique infer asserts new abstract'.split(' '));

export function findFunctions(code: string, brackets: Brackets): FunctionSpan[] {
  const functions = new Map<number, FunctionSpan>();
  for (const [open, close] of brackets.partner) {
    if (code[open] !== '(' || isControlOrHeritage(code, open)) continue;
    const body = bodyAfter(code, close, brackets);
    if (body !== undefined) functions.set(body, { start: open, end: partnerOf(brackets, body) });
  }
  for (const { 0: arrow, index } of code.matchAll(/=>\s*\{/g)) {
    const body = index + arrow.length - 1;
    if (functions.has(body)) continue;
    functions.set(body, { start: index, end: partnerOf(brackets, body) });
  }
  return [...functions.values()].sort((a, b) => a.start - b.start);
}

/** True for `if (…) {` and for `class A extends mixin(B) {`. */
function isControlOrHeritage(code: string, open: number): boolean {
  const before = code.slice(Math.max(0, open - 200), open);
  const word = /([\w$]+)\s*$/.exec(before)?.[1] ?? '';
  return WORDS_BEFORE_BLOCK.has(word) || /\bextends\s+[\w$.]+$/.test(before);
}

function bodyAfter(code: string, close: number, brackets: Brackets): number | undefined {
  let offset = skipSpace(code, close + 1);
  if (code[offset] === ':') offset = endOfType(code, offset + 1, brackets);
  if (code.startsWith('=>', offset)) offset = skipSpace(code, offset + 2);
  return code[offset] === '{' ? offset : undefined;
}

/** The first offset that cannot belong to the type at `start`. */
function endOfType(code: string, start: number, brackets: Brackets): number {
  let offset = skipSpace(code, start);
  let wantsOperand = true;

  while (offset < code.length) {
    if (wantsOperand) {
      const end = endOfOperand(code, offset, brackets);
      if (end === offset) return offset;
      wantsOperand = /^[|&]$/.test(code[offset]) || TYPE_PREFIXES.has(code.slice(offset, end));
      offset = skipSpace(code, end);
      continue;
    }
    if (/^=>\s*\{/.test(code.slice(offset, offset + 200))) return offset;
    const joint = /^(?:[|&.?:]|=>|(?:is|extends)\b)/.exec(code.slice(offset, offset + 8))?.[0];
    if (joint !== undefined) wantsOperand = true;
    const end = joint === undefined ? endOfSuffix(code, offset, brackets) : offset + joint.length;
    if (end === offset) return offset;
    offset = skipSpace(code, end);
  }
  return offset;
}

function endOfOperand(code: string, offset: number, brackets: Brackets): number {
  if ('({['.includes(code[offset])) return partnerOf(brackets, offset) + 1;
  if (code[offset] === '<') return endOfAngles(code, offset);
  if ('|&'.includes(code[offset])) return offset + 1;
  const operand = /^(?:'[^']*'|"[^"]*"|`[^`]*`|-?[\w$]+)/.exec(code.slice(offset, offset + 400));
  return offset + (operand?.[0].length ?? 0);
}

/** Past type arguments or `[]`; `offset` itself when there is neither. */
function endOfSuffix(code: string, offset: number, brackets: Brackets): number {
  if (code[offset] === '<') return endOfAngles(code, offset);
  if (code[offset] === '[') return partnerOf(brackets, offset) + 1;
  return offset;
}

function endOfAngles(code: string, open: number): number {
  let depth = 0;
  for (let offset = open; offset < code.length; offset++) {
    if (code[offset] === '<') depth++;
    if (code[offset] === '>' && code[offset - 1] !== '=') depth--;
    if (depth === 0) return offset + 1;
  }
  return code.length;
}

function skipSpace(code: string, offset: number): number {
  let end = offset;
  while (end < code.length && /\s/.test(code[end])) end++;
  return end;
}

function partnerOf(brackets: Brackets, offset: number): number {
  const partner = brackets.partner.get(offset);
  if (partner === undefined) throw new Error(`the bracket at offset ${offset} has no partner`);
  return partner;
}
