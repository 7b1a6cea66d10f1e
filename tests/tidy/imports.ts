/** Finds the imports of a TypeScript file. */
import { blankLiterals } from './literals.ts';
import { lineAt } from './repository.ts';

interface Import {
  readonly line: number;
  readonly specifier: string;
  /**
   * `import type` or `export type`. `import { type A }` still loads the module, so it does not
   * count.
   */
  readonly isTypeOnly: boolean;
}

/** A blanked string after `from`, after `import`, or as the only argument of `import()`. */
const SPECIFIER = /\b(?:from\s*|import\s*\(?\s*)(?:'( *)'|"( *)"|`( *)`)/dg;

export function findImports(text: string): Import[] {
  const code = blankLiterals(text);

  return [...code.matchAll(SPECIFIER)].flatMap((match) => {
    const span = match.indices?.slice(1).find((indices) => indices !== undefined);
    if (span === undefined || code[match.index - 1] === '.') return [];
    const specifier = text.slice(span[0], span[1]);
    // `import(`./${name}`)` names no module that could be checked.
    if (specifier.includes('${')) return [];
    const isTypeOnly = match[0].startsWith('from') && isTypeStatement(code.slice(0, match.index));
    return [{ line: lineAt(code, match.index), specifier, isTypeOnly }];
  });
}

/** Whether the last statement in `code` begins with `import type` or `export type`. */
function isTypeStatement(code: string): boolean {
  const statement = [...code.matchAll(/\b(?:import|export)\b(\s+type\b)?/g)].at(-1);
  return statement?.[1] !== undefined;
}
