/** Minimum time between two reads of the process's memory use. */
const LOOK_EVERY_MS = 100;

/** Whether the process uses more memory than allowed. */
export class MemoryWatch {
  private readonly bytesMax: number;
  private readonly residentBytes: () => number;
  private readonly clock: () => number;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private wasOver = false;

  /** `clock` is monotonic. */
  constructor(
    bytesMax: number,
    residentBytes = () => process.memoryUsage.rss(),
    clock = () => performance.now(),
  ) {
    this.bytesMax = bytesMax;
    this.residentBytes = residentBytes;
    this.clock = clock;
  }

  get isOver(): boolean {
    const now = this.clock();
    if (now - this.lookedAt >= LOOK_EVERY_MS) {
      this.lookedAt = now;
      this.wasOver = this.residentBytes() > this.bytesMax;
    }
    return this.wasOver;
  }
}
