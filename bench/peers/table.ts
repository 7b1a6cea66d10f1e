import type { Result } from './results.ts';
import type { Metric } from './works/work.ts';

/** Sluice is compared with its peers. Its own second entry is not a peer. */
const OURS = 'sluice';
const OWN = ['sluice', 'sluice-single'];

/** For these metrics, more is better. */
const MORE_IS_BETTER: readonly Metric[] = ['perSecond', 'runsPerSecond'];

/** A row per work and metric, a column per contender: the median, and the range when it is wide. */
export function tableOf(results: readonly Result[]): string {
  const contenders = [...new Set(results.map(({ contender }) => contender))];
  const rows = Map.groupBy(results, ({ work, metric, unit }) => `${work} | ${metric}, ${unit}`);
  const head = ['work', 'metric', ...contenders, 'sluice against the best peer'];
  const lines = [head, head.map(() => '---')].map((cells) => `| ${cells.join(' | ')} |`);
  for (const [row, group] of rows) {
    const cells = contenders.map((name) => cellOf(group.find((each) => each.contender === name)));
    lines.push(`| ${row} | ${cells.join(' | ')} | ${ratioOf(group)} |`);
  }
  return `${lines.join('\n')}\n`;
}

/** CPU and memory of all processes of a contender, per work. */
export function usageTableOf(results: readonly Result[]): string {
  const contenders = [...new Set(results.map(({ contender }) => contender))];
  const lines = [
    `| work | ${contenders.join(' | ')} |`,
    `| --- |${contenders.map(() => ' --- |').join('')}`,
  ];
  for (const [work, group] of Map.groupBy(results, (each) => each.work)) {
    const cells = contenders.map((name) => {
      const result = group.find(({ contender }) => contender === name);
      if (result === undefined) return '–';
      return `${figure(result.cpuSeconds)} s, ${figure(result.residentMib)} MiB`;
    });
    lines.push(`| ${work} | ${cells.join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}

function cellOf(result: Result | undefined): string {
  if (result === undefined || Number.isNaN(result.median)) return '–';
  const { median, low, high } = result;
  if (low === high) return figure(median);
  return `${figure(median)} (${figure(low)} to ${figure(high)})`;
}

function ratioOf(group: readonly Result[]): string {
  const ours = group.find(({ contender }) => contender === OURS);
  const peers = group.filter(({ contender }) => !OWN.includes(contender));
  if (ours === undefined || peers.length === 0) return '–';
  const isMore = MORE_IS_BETTER.includes(ours.metric);
  const medians = peers.map(({ median }) => median).filter((median) => !Number.isNaN(median));
  const best = isMore ? Math.max(...medians) : Math.min(...medians);
  const [large, small] = isMore ? [ours.median, best] : [best, ours.median];
  if (large === small) return 'the same';
  if (small <= 0 || large <= 0) return large > small ? 'better' : 'worse';
  return `${(large / small).toFixed(2)} ×`;
}

/** No measurement is more exact than three digits. */
export function figure(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
