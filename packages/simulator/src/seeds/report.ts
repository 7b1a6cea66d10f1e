import type { Situations } from '../base/situations.ts';
import { flagsOf } from '../plan/overrides.ts';
import type { SeedOrder } from './run-seed.ts';
import type { SeedAnswer } from './seed-process.ts';

const LAST_LINES = 30;

/** What a person needs to know about a failure, and how to reproduce it. */
export function reportFailure(
  { result, shrunk }: SeedAnswer,
  { mode, overrides }: Pick<SeedOrder, 'mode' | 'overrides'>,
): string {
  const failure = shrunk?.failure ?? result.failure;
  if (failure === undefined) return '';
  const flags = ` ${flagsOf(shrunk?.overrides ?? overrides ?? {})}`.trimEnd();
  const modeFlag = mode === 'safety' ? '' : ` --mode ${mode}`;
  const faults = (shrunk?.plan.faults ?? []).map((fault) => `  ${JSON.stringify(fault)}`);
  return [
    '',
    `FAILED seed ${result.seed}: ${failure.message}`,
    ...(shrunk === undefined
      ? []
      : [`faults that are left after ${shrunk.tries} tries:`, ...faults]),
    `last of what happened, up to ${failure.at.toFixed(3)} ms:`,
    ...failure.lastLines.slice(-LAST_LINES),
    failure.stack,
    `again: npm run sim -- --seed ${result.seed}${modeFlag}${flags} --trace`,
  ].join('\n');
}

export interface Totals {
  readonly seeds: number;
  readonly failures: number;
  readonly simulatedMs: number;
  readonly cpuMs: number;
  readonly steps: number;
}

const HOUR_MS = 3_600_000;

export function reportSummary(totals: Totals, situations: Situations): string {
  const { seeds, failures, simulatedMs, cpuMs, steps } = totals;
  const hours = simulatedMs / HOUR_MS;
  const cpuMinutes = cpuMs / 60_000;
  const counts = [...situations.counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    '',
    ...counts.map(([situation, count]) => `${String(count).padStart(9)}  ${situation}`),
    '',
    `${seeds} seeds, ${failures} failed; ${hours.toFixed(1)} simulated hours, ${steps} steps, ` +
      `${cpuMinutes.toFixed(2)} CPU minutes: ${(hours / cpuMinutes).toFixed(1)} hours per CPU ` +
      `minute, ${(seeds / cpuMinutes).toFixed(0)} seeds per CPU minute`,
  ].join('\n');
}
