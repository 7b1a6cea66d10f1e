/**
 * Which work is still accepted when the disk falls behind (L9).
 *
 * Everything that waits for the disk is in memory: the events of the open batch, and the answers
 * that may not leave before it is durable (L2). Each class of work has limits for both, which grow
 * with its importance: reads and new tasks are refused first, reports of finished work last. All of
 * them together stay below the size of a log segment, so that a batch always fits into the reserve
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
  /** Adds no events, but its answers wait for the disk, too. */
  readonly read: Bounds;
  /** New work. */
  readonly submit: Bounds;
  /** Beyond these limits no lease is granted and no timer fires: both can wait without harm. */
  readonly lease: Bounds;
  /** Commands of operators, and workers that connect or leave. */
  readonly operate: Bounds;
  /** Reports and heartbeats, which are accepted longest. */
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
