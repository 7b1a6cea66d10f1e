import type { Command } from '@sluice/core';

/**
 * What is still taken on when the disk does not keep up (L9).
 *
 * Everything that waits for the disk is in memory: the events of the open batch, and the answers
 * that may not leave before it is durable (L2). Each class of work has bounds for both, and they
 * grow with its worth: reads and new tasks are refused first, reports of finished work last. All
 * of them together stay below a segment of the log, so that a batch always fits into the reserve
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
  /** Adds no events, but its answers wait all the same. */
  readonly read: Bounds;
  /** New work. */
  readonly submit: Bounds;
  /** Beyond it no lease is granted and no timer fires: both wait without harm. */
  readonly lease: Bounds;
  /** What operators do, and workers that come and go. */
  readonly operate: Bounds;
  /** Work that is done, and signs of life: as long as anything is. */
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

/**
 * The class of each command that comes from outside. The others come from the server itself; they
 * are few, and refusing them would only put off what they say.
 */
export const COMMAND_CLASSES = {
  submit_tasks: 'submit',
  report_attempts: 'report',
  end_task: 'report',
  cancel_tasks: 'operate',
  patch_tasks: 'operate',
  pause_task: 'operate',
  resume_task: 'operate',
  retry_tasks: 'operate',
  readmit_task: 'operate',
  signal_task: 'operate',
  set_queue_paused: 'operate',
  put_task_type: 'operate',
  start_redrive: 'operate',
  end_redrive: 'operate',
  discard_dead_letters: 'operate',
  create_access_key: 'operate',
  revoke_access_key: 'operate',
  record_backup: 'operate',
  begin_again: undefined,
  redeliver_callbacks: 'operate',
  attach_session: 'operate',
  detach_session: 'operate',
  drain_session: 'operate',
  record_delivery: undefined,
  disconnect_session: undefined,
  expire_sessions: undefined,
  session_read: undefined,
  hear_sessions: undefined,
  advance_time: undefined,
} as const satisfies Record<Command['type'], AdmissionClass | undefined>;
