import type { Cancel } from './ports.ts';

/** A longer timer would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Real clocks and random numbers, which browsers and Node have under the same names. */
export const SYSTEM_PORTS = {
  now: (): number => performance.now(),

  wallTime: (): number => Date.now(),

  startTimer(delayMs: number, run: () => void): Cancel {
    const timer = setTimeout(run, Math.min(delayMs, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },

  random(): number {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    return word / 2 ** 32;
  },
};
