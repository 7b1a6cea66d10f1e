/** The lowest and the highest sample of each column, from -1 to 1. */
export type Peaks = readonly (readonly [low: number, high: number])[];

const WIDTH = 1200;
const HEIGHT = 300;

/** Finds the peaks of samples in `columns` columns. */
export function findPeaks(samples: Int16Array, columns: number): Peaks {
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * samples.length) / columns);
    const to = Math.floor(((column + 1) * samples.length) / columns);
    let [low, high] = [0, 0];
    for (let place = from; place < to; place++) {
      low = Math.min(low, samples[place]);
      high = Math.max(high, samples[place]);
    }
    return [low / 32_768, high / 32_768];
  });
}

/** Draws one line per column. Each chunk has its own colour, so the picture shows the tasks. */
export function drawSvg(chunks: readonly Peaks[]): string {
  const columns = chunks.reduce((sum, { length }) => sum + length, 0);
  const step = WIDTH / columns;
  let column = 0;
  const groups = chunks.map((peaks, place) => {
    const lines = peaks.map(([low, high]) => {
      const x = ((column++ + 0.5) * step).toFixed(1);
      const y = (value: number) => ((HEIGHT / 2) * (1 - value)).toFixed(1);
      return `M${x} ${y(high)}V${y(Math.min(low, high - 0.004))}`;
    });
    const hue = 195 + (place % 2) * 30;
    return `<path d="${lines.join('')}" stroke="hsl(${hue} 70% 45%)"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fbfcfd"/>
<g fill="none" stroke-width="${(step * 0.8).toFixed(2)}">
${groups.join('\n')}
</g>
</svg>
`;
}
