/**
 * A planted bug: one place in production code, changed so that it breaks a promise. A useful
 * simulator finds every one of them.
 */
export interface Mutant {
  readonly name: string;
  /** The file that is changed, relative to `packages/`. */
  readonly file: string;
  /** Must occur exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The promise that it breaks. */
  readonly what: string;
  /** It is looked for in worlds with runs only. */
  readonly inRuns?: true;
  /** It is looked for in worlds with schedules only. */
  readonly inSchedules?: true;
  /** It is looked for in worlds with agents only. */
  readonly inAgents?: true;
  /** It is looked for in worlds with several servers only. */
  readonly inCluster?: true;
}

/** The environment variable that holds the mutant of a process, as JSON. */
export const MUTANT_VARIABLE = 'SLUICE_SIM_MUTANT';

/** Exit code of a process that never loaded the file of its mutant. */
export const NOT_PLANTED_EXIT_CODE = 86;

/** The location of a mutant's file. */
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
