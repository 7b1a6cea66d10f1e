/**
 * What a task needs and what a worker offers, by kind.
 *
 * Sums are kept in whole thousandths. Floating-point fractions would drift, and a worker without
 * leases must be exactly empty.
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

/** The built-in kinds; arrays of amounts use this order. */
export const KINDS = ['slots', 'cpu', 'memoryMb', 'diskMb', 'gpu'] as const;

/**
 * The default offer for kinds that a worker does not state: unlimited for some kinds, none of the
 * others.
 */
const UNSTATED: Readonly<Record<(typeof KINDS)[number], number>> = {
  slots: 0,
  cpu: Number.POSITIVE_INFINITY,
  memoryMb: Number.POSITIVE_INFINITY,
  diskMb: Number.POSITIVE_INFINITY,
  gpu: 0,
};

/** An amount of a custom kind, in thousandths. */
export interface CustomAmount {
  readonly name: string;
  readonly thousandths: number;
}

/** How much of each kind a task needs, in thousandths. */
export function needsOf(resources: Resources): Float64Array {
  return Float64Array.from(KINDS, (kind) => toThousandths(resources[kind] ?? 0));
}

/** The total that a worker offers of each kind, in thousandths. */
export function offersOf(resources: Resources): Float64Array {
  return Float64Array.from(KINDS, (kind) => {
    const stated = resources[kind];
    return stated === undefined ? UNSTATED[kind] : toThousandths(stated);
  });
}

/** Sorted by name; amounts of 0 are left out. */
export function customOf({ custom = {} }: Resources): CustomAmount[] {
  return Object.keys(custom)
    .toSorted()
    .map((name) => ({ name, thousandths: toThousandths(custom[name]) }))
    .filter(({ thousandths }) => thousandths > 0);
}

function toThousandths(value: number): number {
  return Math.round(value * 1000);
}

/** Whether a number has at most three decimals, the precision of the sums. */
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
