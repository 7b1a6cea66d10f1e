const LOOK_EVERY_MS = 2000;

export interface DiskPorts {
  readonly bytesMax: number;
  /** Stops looking at `max`. */
  readonly measure: (max: number) => Promise<number>;
  readonly onMeasured: (bytes: number) => void;
  /** Called once. */
  readonly onFull: () => Promise<void>;
}

/** Looks now and then how much an attempt has written, and acts once when it is too much. */
export class DiskWatch {
  private readonly ports: DiskPorts;
  private readonly timer: NodeJS.Timeout;
  private isLooking = false;
  isFull = false;

  constructor(ports: DiskPorts) {
    this.ports = ports;
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  end(): void {
    clearInterval(this.timer);
    this.isLooking = true;
  }

  private async look(): Promise<void> {
    const { bytesMax, measure, onMeasured, onFull } = this.ports;
    // A large folder may take longer than the time between two looks.
    if (this.isFull || this.isLooking) return;
    this.isLooking = true;
    // What cannot be measured now may be measured at the next look.
    const used = await measure(bytesMax).catch(() => 0);
    this.isLooking = false;
    onMeasured(used);
    if (used <= bytesMax) return;
    this.isFull = true;
    await onFull().catch(() => undefined);
  }
}
