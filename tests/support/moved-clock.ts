/** Preloaded into a server by `--import`: its wall clock is ahead, in all of its threads. */
const aheadMs = Number(process.env.SLUICE_TEST_CLOCK_AHEAD_MS);
const realNow = Date.now;

Date.now = () => realNow() + aheadMs;
