import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';

/**
 * What may wait for the disk (L9). Reports have room of their own behind the bound of submits: work
 * that is done is recorded as long as anything is.
 */
const SUBMIT_OPEN_BYTES_MAX = 8 * 1024 * 1024;
const REPORT_OPEN_BYTES_MAX = 64 * 1024 * 1024;

/** Decides whether a request is taken on at all, before it has any effect. */
export class Admission {
  private readonly engine: Engine;
  private readonly log: { readonly isFull: boolean };

  constructor(engine: Engine, log: { readonly isFull: boolean }) {
    this.engine = engine;
    this.log = log;
  }

  /** The reserve of a full disk is for work that ends, not for more of it. */
  submit(): void {
    if (this.log.isFull) {
      throw new SluiceError('disk_full', 'the disk is full; make room on it', {
        retryAfterMs: 5000,
      });
    }
    if (this.engine.openBytes > SUBMIT_OPEN_BYTES_MAX) throw overloaded('the disk is behind');
  }

  reports(): void {
    if (this.engine.openBytes > REPORT_OPEN_BYTES_MAX) throw overloaded('the disk is far behind');
  }
}

export function overloaded(why: string): SluiceError {
  return new SluiceError('overloaded', `${why}; try again later`, { retryAfterMs: 1000 });
}
