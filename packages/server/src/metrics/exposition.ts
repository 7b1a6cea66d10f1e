import type { Histogram } from './histogram.ts';
import {
  type HistogramName,
  METRIC_FAMILIES,
  type MetricName,
  type PlainName,
} from './metric-families.ts';

export type Labels = Readonly<Record<string, string>>;

/** The text format of Prometheus, version 0.0.4. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Writes metrics as text. Each family is written once, with all its samples. */
export class Exposition {
  private text = '';

  /** A family without labels. */
  value(name: PlainName, value: number): void {
    this.values(name, [[{}, value]]);
  }

  values(name: PlainName, samples: Iterable<readonly [Labels, number]>): void {
    this.head(name);
    for (const [labels, value] of samples) this.sample(name, labels, value);
  }

  /** `scale` converts observations to the unit of the name: 0.001 for milliseconds. */
  histograms(
    name: HistogramName,
    series: Iterable<readonly [Labels, Histogram]>,
    scale: number,
  ): void {
    this.head(name);
    let known: readonly number[] = [];
    let ends: readonly string[] = [];
    for (const [labels, { bounds, counts, sum }] of series) {
      // Most of the page is buckets, so their texts are made once for all series.
      if (bounds !== known) ends = bucketEnds(bounds, scale);
      known = bounds;
      const pairs = pairsOf(labels);
      const start = `${name}_bucket{${pairs === '' ? '' : `${pairs},`}le="`;
      let total = 0;
      for (let bucket = 0; bucket < counts.length; bucket++) {
        total += counts[bucket];
        this.text += `${start}${ends[bucket]}"} ${total}\n`;
      }
      this.sample(`${name}_sum`, labels, sum * scale);
      this.sample(`${name}_count`, labels, total);
    }
  }

  toString(): string {
    return this.text;
  }

  private head(name: MetricName): void {
    const [type, help] = METRIC_FAMILIES[name];
    this.text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  private sample(name: string, labels: Labels, value: number): void {
    const pairs = pairsOf(labels);
    this.text += `${name}${pairs === '' ? '' : `{${pairs}}`} ${value}\n`;
  }
}

function pairsOf(labels: Labels): string {
  return Object.entries(labels)
    .map(([key, text]) => `${key}="${escaped(text)}"`)
    .join(',');
}

/** The values of `le`, one per bucket. */
function bucketEnds(bounds: readonly number[], scale: number): string[] {
  return [...bounds.map((bound) => String(scaled(bound, scale))), '+Inf'];
}

/** Rounds off binary fractions: 0.025, not 0.025000000000000001. */
function scaled(bound: number, scale: number): number {
  return Number((bound * scale).toPrecision(6));
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
