import type { Emit } from '../events/events.ts';
import type { Events } from '../events/make-events.ts';
import type { ReadonlyState } from '../state/state.ts';
import type { ShapeTexts } from '../task/shape-texts.ts';
import type { LeaseActivity } from '../workers/lease-activity.ts';
import type { Roster } from '../workers/roster.ts';
import type { MatchingOptions } from './matching-options.ts';
import type { Outputs } from './outputs.ts';
import type { PendingMatches } from './pending-matches.ts';

/**
 * What `decide` works with.
 *
 * It reads the state and changes it only by emitting events: `emit` writes an event to the log's
 * open batch and applies it before it returns, so that what follows in the same command sees its
 * effect. Roster and activity are volatile and are written directly.
 */
export interface Decision {
  /** The time of the command: what it came with, unless the partition has seen a later one (P2). */
  readonly now: number;
  /**
   * Finished tasks that ended before this time may leave memory: whoever keeps them after that has
   * them. Infinite when nobody does. Volatile, like the roster.
   */
  readonly projectedBefore: number;
  /** Whether ready tasks may be leased out now. */
  readonly grantsLeases: boolean;
  readonly state: ReadonlyState;
  readonly roster: Roster;
  readonly activity: LeaseActivity;
  readonly emit: Emit;
  /** The objects to fill and emit. */
  readonly events: Events;
  readonly outputs: Outputs;
  /** What shapes are called; remembered, not decided. */
  readonly shapeTexts: ShapeTexts;
  readonly matching: MatchingOptions;
  /** What is to be matched at the end of the command. */
  readonly pending: PendingMatches;
}
