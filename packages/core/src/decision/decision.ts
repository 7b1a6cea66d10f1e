import type { Emit } from '../events/events.ts';
import type { Events } from '../events/make-events.ts';
import type { Calendar } from '../schedule/calendar.ts';
import type { ReadonlyState } from '../state/state.ts';
import type { ShapeTexts } from '../task/shape-texts.ts';
import type { LeaseActivity } from '../workers/lease-activity.ts';
import type { Roster } from '../workers/roster.ts';
import type { MatchingOptions } from './matching-options.ts';
import type { Outputs } from './outputs.ts';
import type { PendingMatches } from './pending-matches.ts';
import type { RunWork } from './runs/run-work.ts';

/**
 * What `decide` works with.
 *
 * It reads the state and changes it only by emitting events. `emit` writes an event to the log's
 * open batch and applies it before it returns, so that the rest of the command sees its effect.
 * Roster and activity are volatile and are written directly.
 */
export interface Decision {
  /** The time of the command, or the partition's time if that is later (partition.forward-time). */
  readonly now: number;
  /**
   * Finished tasks that ended before this time may leave memory, because the projection has them.
   * Infinite without a projection. Volatile, like the roster.
   */
  readonly projectedBefore: number;
  /** Whether ready tasks may be leased out now. */
  readonly grantsLeases: boolean;
  readonly state: ReadonlyState;
  readonly roster: Roster;
  readonly activity: LeaseActivity;
  readonly emit: Emit;
  /** Reusable event objects to fill and emit. */
  readonly events: Events;
  readonly outputs: Outputs;
  /** Cached texts of shapes. Not part of the state. */
  readonly shapeTexts: ShapeTexts;
  readonly matching: MatchingOptions;
  /** What deciding about runs works with. Not part of the state. */
  readonly runWork: RunWork;
  /** Times of cron patterns. Its results are logged. */
  readonly calendar: Calendar;
  /** What is matched at the end of the command. */
  readonly pending: PendingMatches;
}
