import { compileDefinition, type StoredProgram } from '@sluice/core';
import { UTF8 } from './utf8.ts';

/** What answers show of a step besides its state. */
export interface StepOutline {
  readonly reference: string;
  readonly kind: string;
  readonly name: string;
}

/** The steps of a definition that was checked before, in the order of their places. */
export function outlineOf(text: string): StepOutline[] {
  const { program } = compileDefinition(JSON.parse(text), UTF8);
  return (program?.nodes ?? []).map(({ reference, kind, name }) => ({ reference, kind, name }));
}

const outlines = new WeakMap<StoredProgram, readonly StepOutline[]>();

/** The steps of a stored definition; compiling it for each answer would cost more than the rest. */
export function outlineOfProgram(program: StoredProgram): readonly StepOutline[] {
  let outline = outlines.get(program);
  if (outline === undefined) {
    outline = outlineOf(program.text);
    outlines.set(program, outline);
  }
  return outline;
}
