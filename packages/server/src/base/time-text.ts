/** Number of seconds whose texts are cached; a page of tasks has few different ones. */
const SECONDS_KEPT = 256;

/** By second: the text up to the dot before the milliseconds. */
const seconds = new Map<number, string>();

/**
 * A time as every answer shows it. `toISOString` alone would cost as much as the rest of a task.
 */
export function timeText(ms: number): string {
  const second = Math.floor(ms / 1000);
  let start = seconds.get(second);
  if (start === undefined) {
    if (seconds.size >= SECONDS_KEPT) seconds.clear();
    start = new Date(second * 1000).toISOString().slice(0, -4);
    seconds.set(second, start);
  }
  const rest = Math.floor(ms) - second * 1000;
  return `${start}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`;
}
