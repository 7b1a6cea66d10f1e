import { type Figures, type Metric, UNITS } from './works/work.ts';

/** One measurement of one work of one contender. */
export interface Measured {
  readonly contender: string;
  readonly work: string;
  readonly figures: Figures;
  /** CPU time of all its processes during the work; NaN where it is not measured. */
  readonly cpuSeconds: number;
  readonly residentMib: number;
}

export interface Result {
  readonly contender: string;
  readonly work: string;
  readonly metric: Metric;
  readonly unit: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** Medians of what all processes of the contender used meanwhile. */
  readonly cpuSeconds: number;
  readonly residentMib: number;
}

/** Collects the measurements and computes their medians. */
export class Results {
  private readonly measured: Measured[] = [];

  add(measured: Measured): void {
    this.measured.push(measured);
  }

  all(): Result[] {
    const groups = Map.groupBy(this.measured, ({ contender, work }) => `${work} ${contender}`);
    return [...groups.values()].flatMap((group) => {
      const [{ contender, work, figures }] = group;
      const cpuSeconds = middle(group.map((each) => each.cpuSeconds));
      const residentMib = middle(group.map((each) => each.residentMib));
      return (Object.keys(figures) as Metric[]).map((metric) => {
        const values = group.map((each) => each.figures[metric] ?? Number.NaN);
        return {
          contender,
          work,
          metric,
          unit: UNITS[metric],
          median: middle(values),
          low: Math.min(...values),
          high: Math.max(...values),
          cpuSeconds,
          residentMib,
        };
      });
    });
  }
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return (sorted[Math.floor(half)] + sorted[Math.ceil(half)]) / 2;
}
