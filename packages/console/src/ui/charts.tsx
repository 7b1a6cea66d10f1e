/** Charts as plain SVG: a few hundred points, drawn anew every second. */
import { type PointerEvent, useState } from 'react';
import { clockTime, shortCount } from '../base/words.ts';

export interface Series {
  readonly name: string;
  /** A name of the style sheet, such as `c-accent`. */
  readonly colour: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly label: string;
  /** Times of the values. */
  readonly times: readonly number[];
  /** The length of the axis, which ends with the newest value. */
  readonly spanMs: number;
  readonly series: readonly Series[];
  /** Areas on top of each other rather than lines. */
  readonly isStacked?: boolean;
  readonly format?: (value: number) => string;
}

const WIDTH = 600;
const HEIGHT = 132;

export function Chart({
  label,
  times,
  spanMs,
  series,
  isStacked = false,
  format = shortCount,
}: ChartProps) {
  const [place, setPlace] = useState<number>();
  const layers = isStacked ? stacked(series) : series.map(({ values }) => values);
  const top = niceTop(Math.max(0, ...layers.flat()));
  const last = times.length - 1;
  const start = (times.at(-1) ?? 0) - spanMs;
  const x = (index: number) => ((times[index] - start) / spanMs) * WIDTH;
  const y = (value: number) => HEIGHT - (value / top) * (HEIGHT - 6);
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setPlace(nearest(times, start + ((event.clientX - left) / width) * spanMs));
  };
  const shown = place === undefined || place > last ? last : place;
  const total = series
    .map(({ name, values }) => `${name} ${format(values.at(-1) ?? 0)}`)
    .join(', ');
  return (
    <figure className="chart">
      <Legend
        series={series}
        at={times[shown]}
        place={shown}
        format={format}
        isNow={place === undefined}
      />
      <div className="chart-plot">
        <span className="chart-top small muted number">{format(top)}</span>
        <svg
          role="img"
          aria-label={`${label}: now ${total}`}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          onPointerMove={move}
          onPointerLeave={() => setPlace(undefined)}
        >
          <path
            className="chart-grid"
            d={`M0 6H${WIDTH}M0 ${HEIGHT / 2 + 3}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`}
          />
          {series.map(({ name, colour }, index) => (
            <Layer
              key={name}
              colour={colour}
              isFilled={isStacked}
              upper={layers[index].map((value, at) => [x(at), y(value)])}
              lower={
                isStacked && index > 0
                  ? layers[index - 1].map((value, at) => [x(at), y(value)])
                  : undefined
              }
            />
          ))}
          {place !== undefined && <path className="chart-cursor" d={`M${x(shown)} 0V${HEIGHT}`} />}
        </svg>
      </div>
    </figure>
  );
}

/** The place of the time that is closest. */
function nearest(times: readonly number[], at: number): number {
  const after = times.findIndex((time) => time >= at);
  if (after === -1) return times.length - 1;
  return after > 0 && at - times[after - 1] < times[after] - at ? after - 1 : after;
}

interface LegendProps {
  readonly series: readonly Series[];
  readonly at: number | undefined;
  readonly place: number;
  readonly format: (value: number) => string;
  readonly isNow: boolean;
}

function Legend({ series, at, place, format, isNow }: LegendProps) {
  return (
    <figcaption className="chart-legend small">
      {series.map(({ name, colour, values }) => (
        <span key={name}>
          <i className={`swatch ${colour}`} /> {name}{' '}
          <b className="number">{format(values[place] ?? 0)}</b>
        </span>
      ))}
      <span className="muted number chart-at">
        {isNow || at === undefined ? 'now' : clockTime(at)}
      </span>
    </figcaption>
  );
}

type Points = readonly (readonly number[])[];

function Layer(props: {
  colour: string;
  isFilled: boolean;
  upper: Points;
  lower?: Points | undefined;
}) {
  const { colour, isFilled, upper, lower } = props;
  if (upper.length === 0) return null;
  const line = upper.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L');
  if (!isFilled) return <path className={`chart-line ${colour}`} d={`M${line}`} />;
  const floor = lower ?? [
    [upper[0][0], HEIGHT],
    [upper[upper.length - 1][0], HEIGHT],
  ];
  const back = [...floor]
    .reverse()
    .map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`)
    .join('L');
  return <path className={`chart-area ${colour}`} d={`M${line}L${back}Z`} />;
}

function stacked(series: readonly Series[]): number[][] {
  const layers: number[][] = [];
  for (const { values } of series) {
    const below = layers.at(-1);
    layers.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return layers;
}

/** A round number at or above. */
function niceTop(value: number): number {
  if (value <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= value) ?? 10;
  return step * power;
}

/** Bars without axes, for a row of a table or a strip of a calendar. */
export function Bars({
  values,
  label,
  titles,
}: {
  readonly values: readonly number[];
  readonly label: string;
  readonly titles?: readonly string[];
}) {
  const top = Math.max(1, ...values);
  return (
    <div className="bars" role="img" aria-label={label}>
      {values.map((value, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
          key={index}
          title={titles?.[index]}
          data-empty={value === 0}
          style={{ height: `${value === 0 ? 4 : 8 + (value / top) * 92}%` }}
        />
      ))}
    </div>
  );
}
