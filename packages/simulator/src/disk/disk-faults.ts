/** When something is to fail. */
export interface FaultOrder {
  /** How many of that kind pass before; none unless said otherwise. */
  readonly after?: number;
  /** Only files below this folder count. */
  readonly under?: string;
}

interface PendingFault {
  passing: number;
  readonly under: string;
}

/** What is ordered to go wrong on a disk. Orders of one kind are met one after the other. */
export class DiskFaults {
  /** Added to each sync, and to each durable write, that begins while it is set. */
  syncDelayMs = 0;
  /** So many of the next writes, of more than one byte, write only a part. */
  shortWrites = 0;
  readonly #writes: PendingFault[] = [];
  readonly #syncs: PendingFault[] = [];

  /** A write fails with EIO. Where it was durable, a part of it may be on the disk. */
  failWrite({ after = 0, under = '' }: FaultOrder = {}): void {
    this.#writes.push({ passing: after, under });
  }

  /** The sync of a file or folder fails with EIO; that of a file drops what it did not write. */
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
