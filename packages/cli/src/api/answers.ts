/** What the command line reads of answers: the types of the protocol, under shorter names. */
import type {
  AuditView,
  BackfillAnswer,
  FireView,
  KeyView,
  NewKeyView,
  QueueView,
  RunSummary,
  RunView,
  ScheduleChange,
  ScheduleView,
  StepView,
  TaskView,
  WorkerView,
  WorkflowChange,
  WorkflowVersionView,
  WorkflowView,
} from '@sluice/protocol';

export type Task = TaskView;
export type Queue = QueueView;
export type Worker = WorkerView;
export type Run = RunView;
export type RunEntry = RunSummary;
export type Step = StepView;
export type Workflow = WorkflowView;
export type WorkflowVersion = WorkflowVersionView;
export type Change = WorkflowChange;
export type Schedule = ScheduleView;
export type ScheduleSpec = ScheduleView['spec'];
export type PutSchedule = ScheduleChange;
export type Fire = FireView;
export type Backfill = BackfillAnswer;
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
