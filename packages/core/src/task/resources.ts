/**
 * What a task needs and what a worker offers, by kind.
 *
 * Sums are kept in whole thousandths: adding and taking away fractions as such would drift, and a
 * worker that has given everything back must be exactly empty.
 */
export interface Resources {
  /** Cores; fractions are allowed. */
  readonly cpu?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  readonly gpu?: number;
  readonly slots?: number;
  readonly custom?: Readonly<Record<string, number>>;
}

/** Kinds that everybody has a word for; their amounts stand in arrays, in this order. */
export const KINDS = ['slots', 'cpu', 'memoryMb', 'diskMb', 'gpu'] as const;

/** What a worker has that states nothing: some kinds without end, of the others nothing. */
const UNSTATED: Readonly<Record<(typeof KINDS)[number], number>> = {
  slots: 0,
  cpu: Number.POSITIVE_INFINITY,
  memoryMb: Number.POSITIVE_INFINITY,
  diskMb: Number.POSITIVE_INFINITY,
  gpu: 0,
};

/** So much of a kind that somebody made up, in thousandths. */
export interface CustomAmount {
  readonly name: string;
  readonly thousandths: number;
}

/** How much of each kind a task needs, in thousandths. */
export function needsOf(resources: Resources): Float64Array {
  return Float64Array.from(KINDS, (kind) => toThousandths(resources[kind] ?? 0));
}

/** How much of each kind a worker has in all, in thousandths. */
export function offersOf(resources: Resources): Float64Array {
  return Float64Array.from(KINDS, (kind) => {
    const stated = resources[kind];
    return stated === undefined ? UNSTATED[kind] : toThousandths(stated);
  });
}

/** In one order; what is 0 is left out. */
export function customOf({ custom = {} }: Resources): CustomAmount[] {
  return Object.keys(custom)
    .toSorted()
    .map((name) => ({ name, thousandths: toThousandths(custom[name]) }))
    .filter(({ thousandths }) => thousandths > 0);
}

function toThousandths(value: number): number {
  return Math.round(value * 1000);
}

/** Whether a number says no more than sums can hold. */
export function hasThreeDecimals(value: number): boolean {
  return Math.abs(value - toThousandths(value) / 1000) < 1e-9;
}

const UNITS: Readonly<Record<string, string>> = {
  memoryMb: 'MB of memory',
  diskMb: 'MB of disk',
};

/** For people: `1.5 cpu`, `512 MB of memory`, `2 licence`. */
export function amountText(name: string, thousandths: number): string {
  return `${thousandths / 1000} ${UNITS[name] ?? name}`;
}
