import type { Engine } from '@sluice/engine';
import { SluiceError } from '@sluice/protocol';

/**
 * What may wait for the disk (L9). Reports have room of their own behind the bound of submits: work
 * that is done is recorded as long as anything is.
 */
const SUBMIT_OPEN_BYTES_MAX = 8 * 1024 * 1024;
const REPORT_OPEN_BYTES_MAX = 64 * 1024 * 1024;

export function admitSubmit(engine: Engine): void {
  if (engine.openBytes > SUBMIT_OPEN_BYTES_MAX) throw overloaded('the disk is behind');
}

export function admitReports(engine: Engine): void {
  if (engine.openBytes > REPORT_OPEN_BYTES_MAX) throw overloaded('the disk is far behind');
}

export function overloaded(why: string): SluiceError {
  return new SluiceError('overloaded', `${why}; try again later`, { retryAfterMs: 1000 });
}
