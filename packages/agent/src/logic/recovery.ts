import type { AttemptRecord } from './attempt-record.ts';

/** What an earlier agent left of one attempt. */
export interface LeftAttempt {
  readonly name: string;
  /** Undefined when it cannot be read. */
  readonly record: AttemptRecord | undefined;
  /**
   * Whether the program was started. `unknown` while the engine of its container does not answer.
   */
  readonly started: 'yes' | 'no' | 'unknown';
}

/** What is known of the containers of an earlier agent. */
export interface SeenContainers {
  /** Whether this agent runs containers. */
  readonly runsContainers: boolean;
  /** Names of those that were started; undefined while the engine does not answer. */
  readonly startedContainers: ReadonlySet<string> | undefined;
}

/** Whether the program of an attempt was started. `isMarked` says that a command left its mark. */
export function startedOf(
  record: AttemptRecord | undefined,
  isMarked: boolean,
  { runsContainers, startedContainers }: SeenContainers,
): LeftAttempt['started'] {
  if (record === undefined) return 'no';
  if (record.task.type !== 'container') return isMarked ? 'yes' : 'no';
  // An agent that runs no containers any more cannot go on with one.
  if (!runsContainers) return 'no';
  if (startedContainers === undefined) return 'unknown';
  return startedContainers.has(record.name) ? 'yes' : 'no';
}

export interface RecoveryPlan {
  /** Goes on under its lease; what came of it is reported. */
  readonly adopt: readonly AttemptRecord[];
  /** Ended and removed. */
  readonly clean: readonly string[];
}

/**
 * Decides what a new agent does with what is left of an earlier one.
 *
 * recovery.no-orphans: Everything that is left is adopted or cleaned up.
 * recovery.one-attempt-per-lease: No two adopted attempts have one lease.
 * recovery.not-started-is-free: An attempt that was not started is not adopted. The server then
 *   hears that its lease never arrived, and no attempt is spent.
 * recovery.started-counts: An attempt that was started is adopted even if nothing of it runs any
 *   more: its end is reported, so that a program that ends its host is not tried for ever.
 */
export function planRecovery(left: readonly LeftAttempt[], hasSession: boolean): RecoveryPlan {
  const adopt = new Map<string, AttemptRecord>();
  const clean: string[] = [];
  for (const { name, record, started } of left) {
    const isAdopted =
      hasSession && record !== undefined && started !== 'no' && !adopt.has(record.task.lease);
    if (isAdopted) adopt.set(record.task.lease, record);
    else clean.push(name);
  }
  return { adopt: [...adopt.values()], clean };
}

/** What of this agent's things nobody owns, at a look while it works. */
export function ownerless(found: readonly string[], owned: ReadonlySet<string>): string[] {
  return found.filter((name) => !owned.has(name));
}
