import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

/**
 * Measures the share of the machine's time that its host gave to other machines. Above 1 %,
 * distrust the figures.
 */
export class StolenTime {
  private readonly startedAt = performance.now();
  private readonly before: number;

  private constructor(before: number) {
    this.before = before;
  }

  static async start(): Promise<StolenTime> {
    return new StolenTime(await stolenMs());
  }

  /** Since the start. */
  async percent(): Promise<number> {
    const elapsedMs = performance.now() - this.startedAt;
    const stolen = (await stolenMs()) - this.before;
    return (stolen / (elapsedMs * availableParallelism())) * 100;
  }
}

/** Since the machine started, over all cores. */
async function stolenMs(): Promise<number> {
  const [total] = (await readFile('/proc/stat', 'utf8')).split('\n');
  return Number(total.split(/\s+/)[8]) * 10;
}
