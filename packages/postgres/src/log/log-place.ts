import type { LogExtent } from '@sluice/log';
import { failureOf } from '../session/failures.ts';
import type { Session } from '../session/session.ts';
import type { LogStatements } from './log-statements.ts';

interface SegmentStart {
  readonly number: number;
  readonly firstRecord: number;
}

/** What the tables say about the log, without a hold. */
export interface LogPlace extends LogExtent {
  readonly epoch: number;
  /** The segment that is being written. */
  readonly segment: number;
  /** In the order of the log, as they were when `segment` was the last one. */
  readonly segments: readonly SegmentStart[];
}

export interface SegmentEnd {
  readonly tail: number;
  readonly bytes: number;
}

/** The driver returns large integers as text. */
interface PlaceRow {
  readonly epoch: string;
  readonly first_record: string;
  readonly segment: number;
  readonly number: number;
  readonly segment_first: string;
}

export async function readPlace(session: Session, statements: LogStatements): Promise<LogPlace> {
  let missing: number | undefined;
  for (;;) {
    const { rows } = await session.query<PlaceRow>(statements.place());
    const [{ epoch, first_record, segment }] = rows;
    try {
      const { tail } = await readEnd(session, statements, segment);
      const segments = rows.map(({ number, segment_first }) => ({
        number,
        firstRecord: Number(segment_first),
      }));
      return { epoch: Number(epoch), first: Number(first_record), tail, segment, segments };
    } catch (cause) {
      // Since the first question the log may have left the segment, and a trim dropped it.
      if (failureOf(cause) !== 'missing' || segment === missing) throw cause;
      missing = segment;
    }
  }
}

export async function readEnd(
  session: Session,
  statements: LogStatements,
  segment: number,
): Promise<SegmentEnd> {
  const { rows } = await session.query<{ tail: string; bytes: string }>(statements.tail(segment));
  return { tail: Number(rows[0].tail), bytes: Number(rows[0].bytes) };
}
