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
    for (const [labels, { bounds, counts, sum }] of series) {
      let total = 0;
      counts.forEach((count, bucket) => {
        total += count;
        const le = bucket < bounds.length ? String(scaled(bounds[bucket], scale)) : '+Inf';
        this.sample(`${name}_bucket`, { ...labels, le }, total);
      });
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
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
    this.text += `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  }
}

/** Rounds off binary fractions: 0.025, not 0.025000000000000001. */
function scaled(bound: number, scale: number): number {
  return Number((bound * scale).toPrecision(6));
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
