import { expect, test } from 'vitest';
import { chartOf } from '../bench/peers/chart.ts';
import { Results } from '../bench/peers/results.ts';
import { tableOf, usageTableOf } from '../bench/peers/table.ts';
import type { Figures } from '../bench/peers/works/work.ts';

function measured(...rows: [contender: string, work: string, figures: Figures][]): Results {
  const results = new Results();
  for (const [contender, work, figures] of rows) {
    results.add({ contender, work, figures, cpuSeconds: 1.5, residentMib: 200 });
  }
  return results;
}

test('a result has the median and the range of its runs', () => {
  const results = measured(
    ['sluice', 'drain', { perSecond: 300 }],
    ['bullmq', 'drain', { perSecond: 50 }],
    ['sluice', 'drain', { perSecond: 100 }],
    ['sluice', 'drain', { perSecond: 200 }],
  );
  expect(results.all()).toEqual([
    {
      contender: 'sluice',
      work: 'drain',
      metric: 'perSecond',
      unit: 'tasks/s',
      median: 200,
      low: 100,
      high: 300,
      cpuSeconds: 1.5,
      residentMib: 200,
    },
    expect.objectContaining({ contender: 'bullmq', median: 50, low: 50, high: 50 }),
  ]);
});

test('the ratio is against the best peer, and more is better in every row', () => {
  const results = measured(
    ['sluice', 'drain', { perSecond: 3000 }],
    ['sluice-single', 'drain', { perSecond: 9000 }],
    ['bullmq', 'drain', { perSecond: 500 }],
    ['pg-boss', 'drain', { perSecond: 2000 }],
    ['sluice', 'latency-100', { p50Ms: 2, p99Ms: 8 }],
    ['bullmq', 'latency-100', { p50Ms: 1, p99Ms: 16 }],
    ['sluice', 'recovery', { lost: 0, doubled: 0 }],
    ['bullmq', 'recovery', { lost: 0, doubled: 3 }],
  );
  const lines = tableOf(results.all()).trim().split('\n').slice(2);
  const last = (line: string) => line.split('|').at(-2)?.trim();
  expect(lines.map(last)).toEqual(['1.50 ×', '0.50 ×', '2.00 ×', 'the same', 'better']);
  expect(lines[0]).toContain('| 3,000 | 9,000 | 500 | 2,000 |');
  expect(lines[1]).toContain('| 2 | – | 1 | – |');
});

test('CPU and memory are told per work', () => {
  const table = usageTableOf(measured(['sluice', 'idle', { cpuPercent: 1 }]).all());
  expect(table).toContain('| idle | 1.5 s, 200 MiB |');
});

test('the chart has a bar for every contender of a work', () => {
  const chart = chartOf(
    measured(
      ['sluice', 'drain', { perSecond: 3000 }],
      ['bullmq', 'drain', { perSecond: 1000 }],
    ).all(),
  );
  expect(chart.match(/<rect /g)).toHaveLength(3);
  expect(chart).toContain('>3,000</text>');
  expect(chart).toMatch(/width="210\.0".*\n.*width="70\.0"/);
});
