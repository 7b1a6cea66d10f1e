/**
 * What is still taken on when the disk does not keep up (L9).
 *
 * Everything that waits for the disk is in memory: the events of the open batch, and the answers
 * that may not leave before it is durable (L2). Each class of work has bounds for both, and they
 * grow with its worth: reads and new tasks are refused first, reports of finished work last. All
 * of them together stay below a segment of the log, so that a batch always fits into the reserve
 * of a full disk.
 */
export type AdmissionClass = keyof AdmissionBounds;

interface Bounds {
  /** Bytes of events that wait for the next append. */
  readonly bytesMax: number;
  /** Answers that wait for an append. */
  readonly answersMax: number;
}

export interface AdmissionBounds {
  /** Adds no events, but its answers wait all the same. */
  readonly read: Bounds;
  /** New work. */
  readonly submit: Bounds;
  /** Beyond it no lease is granted and no timer fires: both wait without harm. */
  readonly lease: Bounds;
  /** What operators do, and workers that come and go. */
  readonly operate: Bounds;
  /** Work that is done, and signs of life: as long as anything is. */
  readonly report: Bounds;
}

const MIB = 2 ** 20;

export const ADMISSION_BOUNDS: AdmissionBounds = {
  read: { bytesMax: 4 * MIB, answersMax: 2000 },
  submit: { bytesMax: 8 * MIB, answersMax: 10_000 },
  lease: { bytesMax: 12 * MIB, answersMax: 20_000 },
  operate: { bytesMax: 16 * MIB, answersMax: 50_000 },
  report: { bytesMax: 20 * MIB, answersMax: 100_000 },
};
