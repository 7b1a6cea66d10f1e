import { type TSchema, Type } from 'typebox';
import { KeyRequest, KeyView, NewKeyView, Role } from './access-schemas.ts';
import { ScheduleCalendar } from './calendar-schemas.ts';
import { EventGap, TaskChange } from './event-schemas.ts';
import { CommandExec, ContainerExec } from './exec-schemas.ts';
import {
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterGroups,
  DiscardReply,
  QueueView,
  RedriveReply,
  RedriveRequest,
  RedriveView,
  StatsPoint,
  StatsView,
  WorkerView,
} from './operation-schemas.ts';
import { TaskResources } from './resource-schemas.ts';
import {
  RunDefinition,
  RunError,
  RunRequest,
  RunStatus,
  RunSummary,
  RunView,
  StartedRun,
  StepState,
  StepView,
} from './run-schemas.ts';
import {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleView,
} from './schedule-schemas.ts';
import { ScheduleSpec } from './schedule-spec-schemas.ts';
import {
  CancelCounts,
  Explanation,
  GetTasksReply,
  HistoryEntry,
  ItemOutcome,
  LogLine,
  pageOf,
  RetryCounts,
  TaskFilter,
} from './task-operation-schemas.ts';
import {
  Callback,
  Retry,
  TaskDefinition,
  TaskPatch,
  TaskRequest,
  Timeouts,
} from './task-schemas.ts';
import { AttemptView, TaskError, TaskStateName, TaskView, Usage } from './task-view-schemas.ts';
import { WorkflowChange, WorkflowVersionView, WorkflowView } from './workflow-schemas.ts';

/**
 * Schemas whose types the SDK shows to its users, by the names that they have there. A schema that
 * is a part of another one stands before it, so that the type of the larger one names it.
 */
export const SDK_SCHEMAS = {
  Resources: TaskResources,
  RetryOptions: Retry,
  TimeoutOptions: Timeouts,
  CallbackOptions: Callback,
  TaskDefaults: TaskDefinition,
  Usage,
  TaskRequest,
  TaskPatch,
  TaskState: TaskStateName,
  TaskError,
  AttemptView,
  TaskView,
} as const satisfies Record<string, TSchema>;

/** The same for programs that agents run. */
export const EXEC_SCHEMAS = { CommandExec, ContainerExec } as const satisfies Record<
  string,
  TSchema
>;

/** The same for operators. */
export const OPERATOR_SCHEMAS = {
  TaskFilter,
  PageOfAnything: pageOf(Type.Unknown()),
  TaskOutcome: ItemOutcome,
  CancelCounts,
  RetryCounts,
  TasksFound: GetTasksReply,
  HistoryEntry,
  Explanation,
  LogLine,
  TaskChange,
  EventGap,
  QueueView,
  WorkerView,
  DeadLetterFilter,
  ErrorGroup: DeadLetterGroup,
  ErrorGroups: DeadLetterGroups,
  RedriveRequest,
  RedriveReply,
  RedriveView,
  DiscardReply,
  StatsPoint,
  StatsView,
  KeyRole: Role,
  KeyRequest,
  KeyView,
  NewKeyView,
} as const satisfies Record<string, TSchema>;

/** The same for workflows and their runs. */
export const RUN_SCHEMAS = {
  RunStatus,
  StepState,
  RunRequest,
  StartedRun,
  RunError,
  StepView,
  RunSummary,
  RunView,
  RunDefinition,
  WorkflowView,
  WorkflowVersionView,
  WorkflowChange,
} as const satisfies Record<string, TSchema>;

/** The same for schedules. */
export const SCHEDULE_SCHEMAS = {
  ScheduleSpec,
  ScheduleRequest,
  ScheduleView,
  ScheduleChange,
  FireView,
  ScheduleExplanation,
  BackfillRequest,
  BackfillAnswer,
  ScheduleCalendar,
} as const satisfies Record<string, TSchema>;
