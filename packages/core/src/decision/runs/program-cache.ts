import { invariant } from '../../base/invariant.ts';
import type { Utf8 } from '../../base/utf8.ts';
import type { StoredProgram } from '../../state/runs/programs.ts';
import { compileDefinition } from '../../workflow/compile.ts';
import type { Program } from '../../workflow/program.ts';

/** Compiled definitions, each compiled on its first use. Not part of the state. */
export class ProgramCache {
  private readonly compiled = new WeakMap<StoredProgram, Program>();
  private readonly utf8: Utf8;

  constructor(utf8: Utf8) {
    this.utf8 = utf8;
  }

  of(stored: StoredProgram): Program {
    const known = this.compiled.get(stored);
    if (known !== undefined) return known;
    const { program } = compileDefinition(JSON.parse(stored.text), this.utf8);
    // The steps in memory were laid out by these arrivals. A compiler that counts differently must
    // stop the partition before it mixes them up.
    const agrees = layoutOf(program?.scopes ?? []) === layoutOf(stored.scopes);
    invariant(program !== undefined && agrees, 'a definition compiles as it did when it came');
    this.compiled.set(stored, program);
    return program;
  }
}

function layoutOf(scopes: StoredProgram['scopes']): string {
  return scopes
    .map(({ first, tasks, arrivals }) => `${first}:${tasks}:${arrivals.join()}`)
    .join(';');
}
