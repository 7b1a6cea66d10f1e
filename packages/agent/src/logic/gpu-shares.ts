/**
 * Which task has which GPU. A GPU has one share, unless the agent offers more.
 *
 * gpus.no-overbooking: No GPU has more tasks than it has shares.
 */
export class GpuShares {
  private readonly shares: number;
  /** Shares in use, by GPU. */
  private readonly used: Map<string, number>;

  constructor(gpus: readonly string[], shares = 1) {
    this.shares = shares;
    this.used = new Map(gpus.map((gpu) => [gpu, 0]));
  }

  /** How many the agent offers. */
  get offered(): number {
    return this.used.size * this.shares;
  }

  /** Takes shares of the GPUs that are used least; undefined when there are not enough. */
  take(count: number): string[] | undefined {
    const taken: string[] = [];
    for (let i = 0; i < count; i++) {
      const free = [...this.used].filter(([, used]) => used < this.shares);
      // Another GPU before a second share of the same one.
      free.sort(([a, usedA], [b, usedB]) => {
        return Number(taken.includes(a)) - Number(taken.includes(b)) || usedA - usedB;
      });
      const [gpu] = free[0] ?? [];
      if (gpu === undefined) {
        this.giveBack(taken);
        return undefined;
      }
      taken.push(gpu);
      this.count(gpu, 1);
    }
    return taken;
  }

  /** For an attempt that has them from an earlier agent. */
  hold(gpus: readonly string[]): void {
    for (const gpu of gpus) this.count(gpu, 1);
  }

  giveBack(gpus: readonly string[]): void {
    for (const gpu of gpus) this.count(gpu, -1);
  }

  private count(gpu: string, change: number): void {
    const used = this.used.get(gpu);
    // A GPU that is gone since then is nobody's.
    if (used !== undefined) this.used.set(gpu, used + change);
  }
}

/** Variables by which a program finds its GPUs, on a host that has some. */
export function gpuVariables(gpus: readonly string[], hasAny: boolean): Record<string, string> {
  if (!hasAny) return {};
  const list = [...new Set(gpus)].join(',');
  return { NVIDIA_VISIBLE_DEVICES: list === '' ? 'void' : list, CUDA_VISIBLE_DEVICES: list };
}

/** The GPUs of a host. */
export interface FoundGpus {
  readonly indexes: readonly string[];
  /** As a label; undefined when there are several, or none. */
  readonly model: string | undefined;
}

/** Reads the output of nvidia-smi: lines with an index and a name. */
export function readGpus(text: string): FoundGpus {
  const lines = text.split('\n').map((line) => /^\s*(\d+),\s*(.+?)\s*$/.exec(line));
  const found = lines.filter((match) => match !== null);
  const models = new Set(found.map(([, , name = '']) => name.replaceAll(/[^A-Za-z0-9._-]+/g, '-')));
  const [model] = models;
  return {
    indexes: found.map(([, index = '']) => index),
    model: models.size === 1 ? model : undefined,
  };
}
