/** What the command line reads of answers: the types of the protocol, under shorter names. */
import type {
  AuditView,
  KeyView,
  NewKeyView,
  QueueView,
  TaskView,
  WorkerView,
} from '@sluice/protocol';

export type Task = TaskView;
export type Queue = QueueView;
export type Worker = WorkerView;
export type AccessKey = KeyView;
export type NewAccessKey = NewKeyView;
export type AuditRecord = AuditView;

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export const TERMINAL: readonly string[] = [
  'succeeded',
  'failed',
  'timed_out',
  'expired',
  'cancelled',
];
