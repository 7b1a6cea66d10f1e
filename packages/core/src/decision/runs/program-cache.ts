import { invariant } from '../../base/invariant.ts';
import type { Utf8 } from '../../base/utf8.ts';
import type { StoredProgram } from '../../state/runs/programs.ts';
import { type Compiled, compileDefinition } from '../../workflow/compile.ts';
import type { Program } from '../../workflow/program.ts';

/** Compiled definitions, each compiled on its first use. Not part of the state. */
export class ProgramCache {
  private readonly compiled = new WeakMap<StoredProgram, Program>();
  private readonly utf8: Utf8;
  private readonly spendBytes: (bytes: number) => void;
  /** A definition is compiled when it comes, and again when it is stored and when it is used. */
  private last: { readonly text: string; readonly compiled: Compiled } | undefined;

  constructor(utf8: Utf8, spendBytes: (bytes: number) => void) {
    this.utf8 = utf8;
    this.spendBytes = spendBytes;
  }

  compile(text: string): Compiled {
    if (this.last?.text === text) return this.last.compiled;
    this.spendBytes(text.length);
    const compiled = compileDefinition(JSON.parse(text), this.utf8);
    this.last = { text, compiled };
    return compiled;
  }

  of(stored: StoredProgram): Program {
    const known = this.compiled.get(stored);
    if (known !== undefined) return known;
    const { program } = this.compile(stored.text);
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
