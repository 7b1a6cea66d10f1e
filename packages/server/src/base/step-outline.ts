import { compileDefinition, type Program, type StoredProgram } from '@sluice/core';
import { UTF8 } from './utf8.ts';

/** What answers show of a step besides its state. */
export interface StepOutline {
  readonly reference: string;
  readonly kind: string;
  readonly name: string;
}

/** The steps of a definition, in the order of their places. */
export interface ProgramOutline {
  readonly steps: readonly StepOutline[];
  /** Number of steps in each scope: the definition itself, then the body of each loop. */
  readonly sizes: readonly number[];
}

/** Of a definition that was checked before. */
export function outlineOf(text: string): ProgramOutline {
  return outlineFrom(compiled(text));
}

function outlineFrom({ nodes, scopes }: Program): ProgramOutline {
  return {
    steps: nodes.map(({ reference, kind, name }) => ({ reference, kind, name })),
    sizes: scopes.map(({ arrivals }) => arrivals.length),
  };
}

function compiled(text: string): Program {
  const { program } = compileDefinition(JSON.parse(text), UTF8);
  if (program === undefined) throw new Error('a stored definition does not compile');
  return program;
}

const programs = new WeakMap<StoredProgram, Program>();

/** A stored definition; compiling it for each answer would cost more than the rest. */
export function programOf(stored: StoredProgram): Program {
  let program = programs.get(stored);
  if (program === undefined) {
    program = compiled(stored.text);
    programs.set(stored, program);
  }
  return program;
}
