/** Runs `run` once after the delay, unless the function that it answers is called before. */
export type StartTimer = (delayMs: number, run: () => void) => () => void;

/** The wait alone must not keep a process alive that has nothing else to do. */
export const startRealTimer: StartTimer = (delayMs, run) => {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};
