import fc from 'fast-check';

/**
 * A sequence that fails is made shorter step by step, which can take longer than the test may.
 * After this time the shortest so far is reported.
 */
fc.configureGlobal({ interruptAfterTimeLimit: 40_000 });
