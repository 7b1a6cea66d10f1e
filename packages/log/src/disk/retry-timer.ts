/** Runs `run` once after the delay; returns a function that cancels it. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

/** The timer alone must not keep a process alive. */
export const startRealTimer: StartTimer = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};
