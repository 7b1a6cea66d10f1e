import type { LimitSettings } from '../limits/partition-limits.ts';

/** What is counted while data is moved. */
export interface Moved {
  records: number;
  rows: number;
  blobs: number;
  lines: number;
  /** Bytes of the log, snapshots and blobs. */
  bytes: number;
}

/** What both directions of a move need. */
export interface MoveOrder {
  /** The data folder of an embedded server. */
  readonly dataFolder: string;
  /** The settings that servers run with: what was stored must fit them. */
  readonly limits: LimitSettings['limits'];
  readonly quotas: LimitSettings['quotas'];
  /** For files that are not needed afterwards. */
  readonly scratchFolder: string;
  readonly onProgress: (what: string, moved: Readonly<Moved>) => void;
  /** Called for a row that cannot be read. A server leaves it out of search and history, too. */
  readonly onLeftOut: (task: string, why: string) => void;
}

/** Counts, and tells the caller. */
export class MoveProgress {
  readonly moved: Moved = { records: 0, rows: 0, blobs: 0, lines: 0, bytes: 0 };
  private readonly order: Pick<MoveOrder, 'onProgress'>;

  constructor(order: Pick<MoveOrder, 'onProgress'>) {
    this.order = order;
  }

  add(what: string, more: Partial<Moved> = {}): void {
    for (const [name, count] of Object.entries(more)) this.moved[name as keyof Moved] += count;
    this.order.onProgress(what, this.moved);
  }
}
