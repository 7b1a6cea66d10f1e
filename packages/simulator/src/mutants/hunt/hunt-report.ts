import type { Hunt } from './hunt.ts';

/** One line for each planted bug. */
export function reportHunt({ mutant, catch: caught, seeds, cpuMs }: Hunt): string {
  const cost = `${String(seeds).padStart(5)} ${seconds(cpuMs).padStart(7)}`;
  const name = mutant.name.padEnd(NAME_WIDTH);
  if (caught === undefined) return `${name} NOT CAUGHT${' '.repeat(RULE_WIDTH - 10)} ${cost}`;
  return `${name} ${caught.rule.padEnd(RULE_WIDTH)} ${cost}`;
}

const NAME_WIDTH = 40;
const RULE_WIDTH = 20;

export const HUNT_HEAD = `${'planted bug'.padEnd(NAME_WIDTH)} ${'caught by'.padEnd(RULE_WIDTH)} seeds   CPU s`;

/** The summary of all hunts. */
export function reportHunts(hunts: readonly Hunt[]): string {
  const caught = hunts.filter((each) => each.catch !== undefined);
  const byCost = caught.toSorted((a, b) => a.cpuMs - b.cpuMs);
  const worst = byCost.at(-1);
  const median = byCost[Math.floor((byCost.length - 1) / 2)];
  const lines = [`${caught.length} of ${hunts.length} planted bugs were caught`];
  if (worst !== undefined) {
    lines.push(
      `CPU seconds: median ${seconds(median.cpuMs)}, worst ${seconds(worst.cpuMs)} ` +
        `(${worst.mutant.name})`,
    );
  }
  return lines.join('\n');
}

/** The exit code of the command: 1 when a bug was not caught. */
export function exitCodeOf(hunts: readonly Hunt[]): number {
  return hunts.every((each) => each.catch !== undefined) ? 0 : 1;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}
