import type { Result } from './results.ts';
import { figure } from './table.ts';
import type { Metric } from './works/work.ts';

interface Panel {
  readonly work: string;
  readonly metric: Metric;
  readonly title: string;
}

const PANELS: readonly Panel[] = [
  { work: 'submit-bulk', metric: 'perSecond', title: 'submit in bulk, tasks/s' },
  { work: 'submit-single', metric: 'perSecond', title: 'submit one by one, tasks/s' },
  { work: 'drain', metric: 'perSecond', title: 'drain a backlog, tasks/s' },
  { work: 'throughput', metric: 'perSecond', title: 'submit to finished, tasks/s' },
  { work: 'latency-2000', metric: 'p50Ms', title: 'latency at 2,000/s, p50 ms (less is better)' },
  { work: 'memory', metric: 'bytesEach', title: 'memory per queued task, bytes (less is better)' },
];

const WIDTH = 900;
const COLUMNS = 2;
const PANEL_WIDTH = WIDTH / COLUMNS;
const BAR = { left: 130, height: 16, gap: 6, widthMax: 210 };
const TITLE_HEIGHT = 34;
const COLOURS = { ours: '#0f766e', peer: '#94a3b8', text: '#334155', ground: '#ffffff' };

/** Bars; the largest figure of each panel has the longest. */
export function chartOf(results: readonly Result[]): string {
  const panels = PANELS.map((panel) => ({ ...panel, bars: barsOf(results, panel) })).filter(
    ({ bars }) => bars.length > 0,
  );
  const barsMax = Math.max(1, ...panels.map(({ bars }) => bars.length));
  const panelHeight = TITLE_HEIGHT + barsMax * (BAR.height + BAR.gap) + 16;
  const height = Math.ceil(panels.length / COLUMNS) * panelHeight + 10;
  const drawn = panels.map(({ title, bars }, place) => {
    const x = (place % COLUMNS) * PANEL_WIDTH + 10;
    const y = Math.floor(place / COLUMNS) * panelHeight + 10;
    return `<g transform="translate(${x},${y})">${panelOf(title, bars)}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<title>Sluice and its peers</title>',
    `<rect width="${WIDTH}" height="${height}" fill="${COLOURS.ground}"/>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function barsOf(results: readonly Result[], { work, metric }: Panel): readonly Result[] {
  return results.filter(
    (each) => each.work === work && each.metric === metric && Number.isFinite(each.median),
  );
}

function panelOf(title: string, bars: readonly Result[]): string {
  const most = Math.max(...bars.map(({ median }) => median));
  const lines = bars.map(({ contender, median }, place) => {
    const y = TITLE_HEIGHT + place * (BAR.height + BAR.gap);
    const width = Math.max(1, (median / most) * BAR.widthMax).toFixed(1);
    const colour = contender.startsWith('sluice') ? COLOURS.ours : COLOURS.peer;
    const base = y + BAR.height - 4;
    return [
      `<text x="${BAR.left - 8}" y="${base}" text-anchor="end" fill="${COLOURS.text}">${contender}</text>`,
      `<rect x="${BAR.left}" y="${y}" width="${width}" height="${BAR.height}" rx="2" fill="${colour}"/>`,
      `<text x="${BAR.left + Number(width) + 6}" y="${base}" fill="${COLOURS.text}">${figure(median)}</text>`,
    ].join('');
  });
  const heading = `<text x="0" y="16" font-weight="bold" fill="${COLOURS.text}">${title}</text>`;
  return [heading, ...lines].join('\n');
}
