/** One line of the engine while it pulls an image. */
export interface PullLine {
  readonly id?: string;
  readonly status?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
  readonly error?: string;
}

const MIB = 2 ** 20;

/** How far a pull is, over all parts of the image. */
export class PullProgress {
  private readonly parts = new Map<string, { current: number; total: number }>();
  fraction = 0;

  /** What to tell people. */
  get text(): string {
    let current = 0;
    let total = 0;
    for (const part of this.parts.values()) {
      current += part.current;
      total += part.total;
    }
    return `${Math.round(current / MIB)} of ${Math.round(total / MIB)} MiB`;
  }

  add({ id = '', status = '', progressDetail = {} }: PullLine): void {
    const { current = 0, total = 0 } = progressDetail;
    const known = this.parts.get(id);
    if (status === 'Downloading' && total > 0) this.parts.set(id, { current, total });
    else if (known !== undefined && FETCHED.has(status)) known.current = known.total;
    let sum = 0;
    let whole = 0;
    for (const part of this.parts.values()) {
      sum += part.current;
      whole += part.total;
    }
    // Parts are announced one after the other, so the fraction could fall.
    if (whole > 0) this.fraction = Math.max(this.fraction, Math.min(1, sum / whole));
  }
}

const FETCHED = new Set(['Download complete', 'Verifying Checksum', 'Extracting', 'Pull complete']);
