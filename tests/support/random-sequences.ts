import fc from 'fast-check';

/** The seed in CI, where a red run should tell of the change alone. Other runs draw new ones. */
const CI_SEED = 20_260;

const { CI = '' } = process.env;

/**
 * Shrinking a failing sequence can take longer than the test may. After this time the shortest
 * sequence so far is reported.
 */
fc.configureGlobal({ interruptAfterTimeLimit: 40_000, ...(CI === '' ? {} : { seed: CI_SEED }) });
