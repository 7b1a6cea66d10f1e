/**
 * Preloaded into a server by `--import`. The first SIGUSR2 sets its wall clock two days ahead; each
 * later one lets half a minute pass.
 */
const DAYS_MS = 2 * 86_400_000;
const PASSED_MS = 30_000;

const realNow = Date.now;
const realMonotonic = performance.now.bind(performance);
let aheadMs = 0;
let passedMs = 0;

Date.now = () => realNow() + aheadMs + passedMs;
performance.now = () => realMonotonic() + passedMs;

process.on('SIGUSR2', () => {
  if (aheadMs === 0) aheadMs = DAYS_MS;
  else passedMs += PASSED_MS;
  process.stdout.write(`the clock is ahead by ${aheadMs + passedMs} ms\n`);
});
