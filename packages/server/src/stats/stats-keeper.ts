import type { Engine } from '@sluice/engine';
import type { Stats } from './stats.ts';

const SAMPLE_EVERY_MS = 1000;
const SAVE_EVERY_MS = 60_000;

interface Parts {
  readonly stats: Stats;
  readonly engine: Engine;
  readonly clock: () => number;
  /** Called when the statistics could not be saved. */
  readonly onUnsaved: (cause: Error) => void;
}

/** Samples the statistics every second and saves them every minute, while the server runs. */
export class StatsKeeper {
  private readonly parts: Parts;
  private readonly timer: NodeJS.Timeout;
  private savedAt = performance.now();
  private isSampling = false;

  constructor(parts: Parts) {
    this.parts = parts;
    this.timer = setInterval(() => void this.sample(), SAMPLE_EVERY_MS);
  }

  async close(): Promise<void> {
    this.stop();
    await this.save();
  }

  /** Ends without saving. */
  stop(): void {
    clearInterval(this.timer);
  }

  private async sample(): Promise<void> {
    // While the disk hangs, more samples would all show the same.
    if (this.isSampling) return;
    this.isSampling = true;
    const { stats, engine, clock } = this.parts;
    try {
      await engine.read((state) => stats.sample(state, clock()));
      if (performance.now() - this.savedAt >= SAVE_EVERY_MS) await this.save();
    } catch {
      // An engine that stopped has already reported it.
    } finally {
      this.isSampling = false;
    }
  }

  private async save(): Promise<void> {
    this.savedAt = performance.now();
    await this.parts.stats.save().catch(this.parts.onUnsaved);
  }
}
