import { TaskAborted } from '@sluice/sdk';

const KILL_GRACE_MS_DEFAULT = 10_000;

/** The server revokes a lease after its grace, so the program must be gone a little earlier. */
const BEFORE_REVOKED_MS = 1000;

/**
 * Time from SIGTERM to SIGKILL. When another worker may have the task already, the program is ended
 * at once.
 */
export function graceOf(reason: unknown, killGraceMs = KILL_GRACE_MS_DEFAULT): number {
  if (!(reason instanceof TaskAborted)) return 0;
  return Math.max(0, Math.min(killGraceMs, reason.graceMs - BEFORE_REVOKED_MS));
}
