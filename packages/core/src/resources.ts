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

/** So much of one kind, in thousandths. */
export interface Amount {
  readonly name: string;
  readonly thousandths: number;
}

const NAMES = ['cpu', 'memoryMb', 'diskMb', 'gpu'] as const;

/** Kinds that a worker has without end unless it states how much; of all others it has none. */
export const UNLIMITED_UNLESS_STATED: readonly string[] = ['cpu', 'memoryMb', 'diskMb'];

/** All that is asked for or offered beside slots, in one order; what is 0 is left out. */
export function amountsOf(resources: Resources): Amount[] {
  const { custom = {} } = resources;
  const amounts: Amount[] = [];
  for (const name of NAMES) {
    amounts.push({ name, thousandths: toThousandths(resources[name] ?? 0) });
  }
  for (const name of Object.keys(custom).toSorted()) {
    amounts.push({ name: `custom.${name}`, thousandths: toThousandths(custom[name]) });
  }
  return amounts.filter(({ thousandths }) => thousandths > 0);
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
  return `${thousandths / 1000} ${UNITS[name] ?? name.replace(/^custom\./, '')}`;
}
