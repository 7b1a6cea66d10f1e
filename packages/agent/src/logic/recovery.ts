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
