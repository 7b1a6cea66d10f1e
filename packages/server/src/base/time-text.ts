/** Texts of so many seconds are kept; a page of tasks has few different ones. */
const SECONDS_KEPT = 256;

/** By second: the text up to the dot before its milliseconds. */
const seconds = new Map<number, string>();

/** A time as every answer has it. What `toISOString` does costs as much as all else of a task. */
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
