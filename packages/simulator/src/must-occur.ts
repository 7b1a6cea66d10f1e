import type { Situations } from './situations.ts';

/** With this many seeds each of the situations below must occur. With fewer, some may not. */
export const SEEDS_FOR_ALL = 1000;

/** A run without these situations proves less than it seems to. */
const MUST_OCCUR = [
  // The log and its disk.
  'an append was answered unknown',
  'an append was answered duplicate',
  'an append was answered fenced',
  'an append was answered full',
  'the log was taken over',
  'a bit of a snapshot rotted',
  'notice: snapshot_unusable',
  'notice: snapshot_saved',
  'notice: log_trimmed',
  'notice: fold_failed',
  'the server ended: LogFailedError',
  'the server ended: LogFullError',
  'the server ended: FencedError',
  // Restarts.
  'a server was killed amid a write',
  'power was lost amid a rename',
  'a restart',
  'a restart on a log that was trimmed',
  'a restart with leases that are held',
  'a restart with timers that run',
  'a redrive that goes on after a restart',
  'a session came back after a restart',
  'the server had not run for a while',
  'a standstill amid a submit that was stored',
  // The network.
  'a request was lost',
  'a request arrived twice',
  'an answer was cut in the middle',
  'a client sent a request again',
  'a client repeated a submit that was answered',
  'a call of the SDK was submitted',
  'a call of the SDK was refused',
  'a call of the SDK was refused at once',
  'a call of the SDK was unknown',
  // Workers.
  'a resume with a lease that was lost',
  'attach_session answers resume_outdated',
  'attach_session answers too_many_sessions',
  'a report of a session that nobody knows',
  'a report was answered duplicate',
  'a report was answered stale_lease',
  'a final report was duplicate',
  'a final report was stale_lease',
  'a handler was aborted: cancelled',
  'a handler was aborted: timed_out',
  'a handler was aborted: lease_lost',
  'a handler was aborted: stopping',
  'a handler heard a signal',
  'a worker changed its offer',
  'a worker was stopped gently',
  'a worker that was stopped is over',
  'event attempt_returned worker_lost',
  'event attempt_returned handed_back',
  'event attempt_returned not_arrived',
  'event attempt_returned refused',
  'event attempt_deferred',
  'success after being told to stop',
  // The lives of tasks.
  'a deadline at the very time of an end',
  'leased in the turn of its submit',
  'leased after a long wait',
  'event attempts_exhausted worker_lost',
  'event attempt_timed_out run_timeout',
  'event attempt_timed_out heartbeat_timeout',
  'event task_ended expired',
  'event task_ended timed_out',
  'event task_ended cancelled',
  'event task_retried',
  'event task_resumed',
  'event task_patched',
  'event task_forgotten',
  'event dead_letter_dropped',
  'event dedupe_forgotten',
  'event callback_delivered',
  'event callback_failed',
  'event callback_dropped',
  // Refusals.
  'submit_tasks answers dedupe_mismatch',
  'submit_tasks answers too_many_tasks',
  'submit_tasks answers too_many_keys',
  'submit_tasks answers too_many_bytes',
  'submit_tasks answers too_many_callbacks',
  'signal_task answers worker_unreachable',
  'a submit was recognised by its key',
  'a key of a task that had ended',
];

/** The situations that did not occur. */
export function missingSituations({ counts }: Situations): string[] {
  return MUST_OCCUR.filter((situation) => !counts.has(situation));
}
