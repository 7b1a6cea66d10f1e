import { checkTrim, type LogTrim, type TrimOutcome } from '@sluice/log';
import { DatabaseError } from 'pg';
import type { Session } from '../session/session.ts';
import { type LogPlace, readPlace } from './log-place.ts';
import type { LogStatements } from './log-statements.ts';

/** Somebody reads the table, so it stays until the next trim. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Raises the first record under the epoch, then drops whole segments below it. Rows below it in
 * the segments that stay are never read.
 */
export async function trimLog(
  session: Session,
  statements: LogStatements,
  trim: LogTrim,
): Promise<TrimOutcome> {
  const place = await readPlace(session, statements);
  if (trim.epoch !== place.epoch) return 'fenced';
  checkTrim(trim, place.tail);
  if (trim.upTo > place.first) {
    const first = await batchBoundary(session, statements, { place, upTo: trim.upTo });
    const { count } = await session.query(statements.trim(), [trim.epoch, first]);
    if (count === 0) return 'fenced';
  }
  const { first, segments } = await readPlace(session, statements);
  for (const [index, { number }] of segments.entries()) {
    const next = segments.at(index + 1);
    if (next === undefined || next.firstRecord > first) break;
    if (!(await hasDropped(session, statements.drop(number)))) break;
  }
  return 'ok';
}

/** The start of the batch that holds the record; a batch stays whole. */
async function batchBoundary(
  session: Session,
  statements: LogStatements,
  { place, upTo }: { readonly place: LogPlace; readonly upTo: number },
): Promise<number> {
  if (upTo === place.tail) return upTo;
  const segment = place.segments.findLast(({ firstRecord }) => firstRecord <= upTo);
  const { rows } = await session.query<{ start: string }>(
    statements.batchOf(segment?.number ?? place.segment),
    [upTo],
  );
  return Number(rows[0].start);
}

async function hasDropped(session: Session, statements: readonly string[]): Promise<boolean> {
  try {
    await session.queryAll(statements);
    return true;
  } catch (cause) {
    if (cause instanceof DatabaseError && cause.code === LOCK_NOT_AVAILABLE) return false;
    throw cause;
  }
}
