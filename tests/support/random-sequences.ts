import fc from 'fast-check';

/**
 * Shrinking a failing sequence can take longer than the test may. After this time the shortest
 * sequence so far is reported.
 */
fc.configureGlobal({ interruptAfterTimeLimit: 40_000 });
