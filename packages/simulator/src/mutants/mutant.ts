/**
 * A planted bug: one place of the production code, changed so that it breaks a promise. A simulator
 * that is worth its name finds every one of them.
 */
export interface Mutant {
  readonly name: string;
  /** The file that is changed, below `packages/`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Which promise it breaks. */
  readonly what: string;
}

/** The environment variable that holds the mutant of a process, as JSON. */
export const MUTANT_VARIABLE = 'SLUICE_SIM_MUTANT';

/** How a process ends whose mutant is in a file that it never loaded. */
export const NOT_PLANTED_EXIT_CODE = 86;

/** Where the file of a mutant is. */
export function urlOf({ file }: Mutant): URL {
  return new URL(`../../../${file}`, import.meta.url);
}

/** The source with the bug in it. */
export function plant(source: string, { name, file, find, replace }: Mutant): string {
  const [before, after, ...others] = source.split(find);
  if (after === undefined || others.length > 0) {
    const count = after === undefined ? 'not' : `${others.length + 1} times`;
    throw new Error(
      `the text that the planted bug '${name}' changes occurs ${count} in packages/${file}; ` +
        'when the code was changed, change the planted bug with it',
    );
  }
  return `${before}${replace}${after}`;
}
