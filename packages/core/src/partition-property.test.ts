import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command, RunCommand, ScheduleCommand } from './commands/commands.ts';
import { World } from './testing/world/world.ts';
import { type Action, actions, passedMs } from './testing/world/world-actions.ts';

const sequences = fc.array(fc.tuple(actions, passedMs), {
  minLength: 20,
  maxLength: 80,
  size: 'max',
});

/**
 * Rounds of random sequences: at least ROUNDS_MIN, and more until everything was covered. The
 * rarest situation occurs in one round of ten.
 */
const ROUNDS_MIN = 3;
const ROUNDS_MAX = 150;
const RUNS_PER_ROUND = 100;

test('a partition does what its model says and comes back whole from its log and snapshots', () => {
  const seen = new Set<string>();
  const everything = [...Object.keys(COMMANDS), ...EVERYTHING];
  const missing = () => everything.filter((situation) => !seen.has(situation));
  const property = fc.property(sequences, (steps) => live(steps, seen));
  const { seed = Date.now() } = fc.readConfigureGlobal();

  for (let round = 0; round < ROUNDS_MIN || (round < ROUNDS_MAX && missing().length > 0); round++) {
    fc.assert(property, { numRuns: RUNS_PER_ROUND, seed: seed + round });
  }

  expect(missing()).toEqual([]);
}, 600_000);

/** One random run of a partition with checks after every step; records what it covered. */
function live(steps: readonly [Action, number][], seen: Set<string>): void {
  const world = new World();
  for (const [action, passed] of steps) {
    world.partition.now += passed;
    world.act(action);
    world.compare();
    for (const task of world.model.tasks) seen.add(`${task.state} ${task.reason}`);
  }
  world.compareWithReplay();
  if (world.model.forgotten > 0) seen.add('forgotten');
  if (world.model.dropped > 0) seen.add('dead letters dropped');
  if (world.model.outbox.dropped > 0) seen.add('deliveries dropped');
  for (const what of world.met) seen.add(what);
}

/**
 * All commands: one that is added to the core must be added to the actions, too. Those of runs are
 * in `runs-property.test.ts`.
 */
const COMMANDS: Readonly<
  Record<Exclude<Command['type'], RunCommand['type'] | ScheduleCommand['type']>, true>
> = {
  submit_tasks: true,
  attach_session: true,
  disconnect_session: true,
  detach_session: true,
  drain_session: true,
  session_read: true,
  report_attempts: true,
  expire_sessions: true,
  renew_sessions: true,
  advance_time: true,
  cancel_tasks: true,
  patch_tasks: true,
  pause_task: true,
  resume_task: true,
  retry_tasks: true,
  readmit_task: true,
  end_task: true,
  signal_task: true,
  set_queue_paused: true,
  put_task_type: true,
  start_redrive: true,
  end_redrive: true,
  discard_dead_letters: true,
  create_access_key: true,
  revoke_access_key: true,
  record_backup: true,
  reset_after_restore: true,
  record_delivery: true,
  redeliver_callbacks: true,
};

/** The runs above must cover all of these. */
const EVERYTHING = [
  'waiting delayed',
  'waiting backoff',
  'queued due',
  'queued submitted',
  'queued worker_lost',
  'waiting worker_lost',
  'queued handed_back',
  'queued not_arrived',
  'queued refused',
  'leased leased',
  'running started',
  'succeeded succeeded',
  'failed failed',
  'failed worker_lost',
  'forgotten',
  'too_many_tasks',
  'quota_exceeded',
  'too_many_keys',
  'dedupe_mismatch',
  'deduplicated',
  'request repeated',
  'request_mismatch',
  'too_many_sessions',
  'resume_outdated',
  'payload moved',
  'leases held back',
  'drained',
  'waiting resumed',
  'waiting run_timeout',
  'waiting heartbeat_timeout',
  'queued resumed',
  'queued rescheduled',
  'queued retried',
  'queued redriven',
  'paused paused',
  'running later',
  'succeeded ended_outside',
  'failed ended_outside',
  'timed_out run_timeout',
  'timed_out heartbeat_timeout',
  'timed_out total_timeout',
  'expired queue_timeout',
  'expired total_timeout',
  'expired instead of leased',
  'cancelled cancelled',
  'dead letters dropped',
  'foreign namespace',
  'create_access_key first_key',
  'create_access_key access_key_known',
  'create_access_key access_key_not_found',
  'create_access_key foreign_namespace',
  'revoke_access_key access_key_not_found',
  'revoke_access_key last_admin_key',
  'cancel',
  'cancel task_finished',
  'cancel task_not_found',
  'cancel of one twice',
  'cancel of some unknown',
  'pause',
  'pause task_running',
  'pause task_finished',
  'retry',
  'retry task_finished',
  'retry task_not_finished',
  'retry with another input',
  'retry of one twice',
  'retry of some unknown',
  'end',
  'end task_finished',
  'patch',
  'patch task_running',
  'patch task_finished',
  'patch too_many_tags',
  'patch too_many_bytes',
  'patch of one twice',
  'patch of some unknown',
  'signal',
  'signal task_not_found',
  'signal task_not_leased',
  'signal worker_unreachable',
  'queue pause',
  'queue resume',
  'type defined',
  'type defined again',
  'type removed',
  'default of a type',
  'redrive',
  'redrive ended',
  'end redrive of another namespace',
  'discarded',
  'too_many_bytes',
  'readmitted',
  'readmitted with its key',
  'readmit task_not_found',
  'readmit too_many_bytes',
  'too_many_callbacks',
  'delivery unknown',
  'delivery delivered',
  'delivery failed',
  'delivery given_up',
  'delivery failed for good',
  'redelivered none',
  'redelivered some',
  'redelivered all',
  'deliveries dropped',
];
