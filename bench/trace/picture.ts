import { PHASES, type Phase } from './phases.ts';

const COLOURS: Readonly<Record<Phase['lane'], string>> = {
  client: '#4878a8',
  network: '#b0b0b0',
  server: '#c8643c',
  disk: '#50505a',
  worker: '#5a9664',
};
const LANES = Object.keys(COLOURS) as Phase['lane'][];

const WIDTH = 1000;
const LEFT = 80;
const LANE_PX = 34;
const TOP = 40;
const LIST_TOP = TOP + LANES.length * LANE_PX + 30;
const LINE_PX = 20;

/** Where the time of a task goes: a lane for each place, and a list of the phases below. */
export function pictureOf(medianUs: readonly number[], title: string): string {
  const total = medianUs.reduce((sum, us) => sum + us, 0);
  const scale = (WIDTH - LEFT - 20) / total;
  let at = 0;
  const bars = medianUs.map((us, phase) => {
    const x = LEFT + at * scale;
    at += us;
    return bar(phase, { x, width: Math.max(1, us * scale) });
  });
  const lanes = LANES.map((lane, n) => text(8, TOP + n * LANE_PX + 20, lane));
  const list = medianUs.map((us, phase) => listed(phase, us));
  const height = LIST_TOP + Math.ceil(PHASES.length / 2) * LINE_PX + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    text(8, 20, title),
    ...lanes,
    ...bars,
    ...list,
    '</svg>',
    '',
  ].join('\n');
}

function bar(phase: number, { x, width }: { x: number; width: number }): string {
  const { lane } = PHASES[phase];
  const y = TOP + LANES.indexOf(lane) * LANE_PX;
  const middle = (x + width / 2).toFixed(1);
  return (
    `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${LANE_PX - 8}" fill="${COLOURS[lane]}"/>` +
    `<text x="${middle}" y="${y + LANE_PX + 3}" font-size="9" text-anchor="middle">${phase + 1}</text>`
  );
}

function listed(phase: number, us: number): string {
  const half = Math.ceil(PHASES.length / 2);
  const x = phase < half ? 8 : WIDTH / 2 + 8;
  const { lane, what } = PHASES[phase];
  const y = LIST_TOP + (phase % half) * LINE_PX + 12;
  return text(x, y, `${phase + 1}. ${us.toFixed(0)} µs  ${lane}: ${what}`);
}

function text(x: number, y: number, words: string): string {
  return `<text x="${x}" y="${y}" fill="#202020">${words}</text>`;
}
