/** One row of the benchmark. It runs in separate processes. */
export interface Row {
  /** Makes the data that `measure` starts from, in another process. */
  readonly prepare?: (place: RowPlace) => Promise<void>;
  readonly measure: (place: RowPlace) => Promise<readonly Figure[]>;
}

interface RowPlace {
  /** Empty at first, and removed afterwards. */
  readonly folder: string;
  /** Share of the full number of tasks. */
  readonly share: number;
}

export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly value: number;
  /** The target that is shown beside the figure. */
  readonly target?: string;
}

/** Seconds that `act` takes. */
export function secondsOf(act: () => void): number {
  const startedAt = performance.now();
  act();
  return (performance.now() - startedAt) / 1000;
}
