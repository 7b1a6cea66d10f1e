import type { CronPattern } from '../cron-pattern.ts';
import { firstLocal } from '../local-times.ts';

/**
 * The times of a pattern by brute force, for tests: each instant of a range is asked for its local
 * time. `matchesLocal` decides about one local time alone.
 */
export function naiveTimes(
  pattern: CronPattern,
  timeZone: string,
  { from, to, stepMs }: { readonly from: number; readonly to: number; readonly stepMs: number },
): number[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const localAt = (instant: number) => Date.parse(`${format.format(instant).replace(' ', 'T')}Z`);
  const times: number[] = [];
  const seen = new Set<number>();
  let before = localAt(from - stepMs);
  for (let instant = from; instant <= to; instant += stepMs) {
    const local = localAt(instant);
    const isGap = local - before > stepMs;
    const skipped =
      isGap && !pattern.isEveryHour && hasMatch(pattern, before + stepMs, local, stepMs);
    const counts = matchesLocal(pattern, local) && (pattern.isEveryHour || !seen.has(local));
    if (skipped || counts) times.push(instant);
    seen.add(local);
    before = local;
  }
  return times;
}

function hasMatch(pattern: CronPattern, from: number, to: number, stepMs: number): boolean {
  for (let local = from; local < to; local += stepMs) if (matchesLocal(pattern, local)) return true;
  return false;
}

function matchesLocal(pattern: CronPattern, local: number): boolean {
  return firstLocal(pattern, local, local + 1) === local;
}
