/** When an operation must fail. */
export interface FaultOrder {
  /** Number of operations of that kind that succeed first; none by default. */
  readonly after?: number;
  /** Only files below this folder count. */
  readonly under?: string;
}

interface PendingFault {
  passing: number;
  readonly under: string;
}

/** The faults that were ordered for a disk. Orders of one kind happen one after the other. */
export class DiskFaults {
  /** Added to each sync and each durable write that begins while it is set. */
  syncDelayMs = 0;
  /** Number of writes, of more than one byte, that will write only a part. */
  shortWrites = 0;
  readonly #writes: PendingFault[] = [];
  readonly #syncs: PendingFault[] = [];

  /** A write fails with EIO. Part of a durable write may be on the disk. */
  failWrite({ after = 0, under = '' }: FaultOrder = {}): void {
    this.#writes.push({ passing: after, under });
  }

  /** The sync of a file or folder fails with EIO. A file loses what the sync did not write. */
  failSync({ after = 0, under = '' }: FaultOrder = {}): void {
    this.#syncs.push({ passing: after, under });
  }

  takeWriteFailure(path: string): boolean {
    return isDue(this.#writes, path);
  }

  takeSyncFailure(path: string): boolean {
    return isDue(this.#syncs, path);
  }

  takeShortWrite(length: number): boolean {
    if (this.shortWrites === 0 || length < 2) return false;
    this.shortWrites -= 1;
    return true;
  }
}

function isDue(pending: PendingFault[], path: string): boolean {
  const fault = pending.at(0);
  if (fault === undefined || !path.startsWith(fault.under)) return false;
  fault.passing -= 1;
  if (fault.passing >= 0) return false;
  pending.shift();
  return true;
}
