/** What groups of processes have used; a part that cannot be measured is absent. */
interface Counted {
  /** Counts up. */
  readonly cpuMs?: number;
  readonly memoryBytes?: number;
}

interface Use {
  readonly cpu?: number;
  readonly memoryMb?: number;
}

const MIB = 2 ** 20;

/**
 * Turns what control groups have counted into what is used now. A part that one of the groups
 * cannot measure is left out: half of the use would look like all of it.
 */
export class UseMeter {
  private readonly sources: readonly (() => Counted)[];
  private readonly now: () => number;
  private before: { readonly cpuMs: number; readonly at: number } | undefined;

  /** `now` returns milliseconds that only increase. */
  constructor(sources: readonly (() => Counted)[], now: () => number) {
    this.sources = sources;
    this.now = now;
    this.measure();
  }

  /** Cores are the average since the call before. */
  measure(): Use {
    const counted = this.sources.map((source) => source());
    const memoryBytes = sumOf(counted.map((each) => each.memoryBytes));
    const cpu = this.cores(sumOf(counted.map(({ cpuMs }) => cpuMs)));
    return {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryBytes === undefined ? {} : { memoryMb: Math.round(memoryBytes / MIB) }),
    };
  }

  private cores(cpuMs: number | undefined): number | undefined {
    const { before } = this;
    const at = this.now();
    this.before = cpuMs === undefined ? undefined : { cpuMs, at };
    if (cpuMs === undefined || before === undefined || at <= before.at) return undefined;
    // Groups that were removed and made again count from zero.
    const cores = Math.max(0, cpuMs - before.cpuMs) / (at - before.at);
    return Math.round(cores * 1000) / 1000;
  }
}

function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const part of parts) {
    if (part === undefined) return undefined;
    sum += part;
  }
  return sum;
}
