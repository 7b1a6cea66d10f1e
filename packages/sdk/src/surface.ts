/** What every entry of the package exports besides `Sluice`. */
export type { ServerUrl } from './base/addresses.ts';
export type { Followed } from './calls/followed-stream.ts';
export type { ErrorDetail } from './calls/http-answers.ts';
export type { WorkerUse } from './calls/platform.ts';
export { RunFailed, SluiceError, TaskFailed } from './calls/sluice-error.ts';
export type { SluiceOptions } from './client/sluice-client.ts';
export type { TaskClient } from './client/task-client.ts';
export type {
  DeadLetterGroup,
  QueueGroup,
  TaskGroup,
  TaskReference,
} from './operators/operator-groups.ts';
export type {
  CalendarWindow,
  CancelMatchingOptions,
  ChangeNotice,
  DeadLetterQuery,
  DiscardRequest,
  EventOptions,
  FollowLogOptions,
  FollowOptions,
  FollowStatsOptions,
  ListedTask,
  LogOptions,
  RetryMatchingOptions,
  StatsWindow,
  TaskEvent,
  TaskQuery,
  TaskSelection,
  TaskUpdate,
} from './operators/operator-port.ts';
export type {
  CancelCounts,
  DeadLetterFilter,
  DiscardReply,
  ErrorGroup,
  ErrorGroups,
  EventGap,
  Explanation,
  HistoryEntry,
  KeyRequest,
  KeyRole,
  KeyView,
  LogLine,
  NewKeyView,
  QueueView,
  RedriveReply,
  RedriveRequest,
  RedriveView,
  RetryCounts,
  StatsPoint,
  StatsView,
  TaskChange,
  TaskOutcome,
  WorkerView,
} from './operators/operator-types.ts';
export type { Page, PageOptions } from './operators/pages.ts';
export type { RunGroup, RunReference, WorkflowGroup } from './operators/run-groups.ts';
export type { PutWorkflowOptions, RunQuery } from './operators/run-port.ts';
export type { NamedWorkflow, ScheduleOptions } from './operators/schedule-group.ts';
export type {
  ScheduleBatchItem,
  ScheduleBatchResult,
  SchedulePatch,
  ScheduleQuery,
} from './operators/schedule-port.ts';
export type {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleCalendar,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleSpec,
  ScheduleView,
} from './operators/schedule-types.ts';
export type {
  KeyGroup,
  ServerDeadLetterGroup,
  ServerTaskGroup,
  WorkerGroup,
} from './operators/server-groups.ts';
export type { Usage } from './task/api-types.ts';
export type { AttemptEvent } from './task/attempt-event.ts';
export { type AnyTask, defineTask, type TaskDefinition } from './task/define-task.ts';
export type { CommandExec, ContainerExec } from './task/exec-types.ts';
export { HandBack, Later, PermanentFailure, RetryAfter, TaskAborted } from './task/failures.ts';
export type { SignalListener, TaskContext } from './task/task-context.ts';
export type {
  CancelOptions,
  ResultOptions,
  TaskHandle,
  WaitOptions,
} from './task/task-handle.ts';
export type {
  CallbackOptions,
  ExecOptions,
  Resources,
  RetryChanges,
  RetryOptions,
  SubmitOptions,
  TaskChanges,
  TaskDefaults,
  TimeoutOptions,
} from './task/task-options.ts';
export type { SubmitManyOptions, TaskSubmits } from './task/task-submits.ts';
export type { AttemptView, TaskError, TaskState, TaskView } from './task/task-view.ts';
export type { StopOptions, Worker, WorkerNotice, WorkOptions } from './worker/worker.ts';
export type { CallbackTarget } from './workflow/callback-step.ts';
export type { StartWorkflowOptions, SubWorkflowOptions } from './workflow/child-steps.ts';
export { defineWorkflow, type WorkflowOptions } from './workflow/define-workflow.ts';
export type { ExecStepOptions, StepExec } from './workflow/exec-step.ts';
export type { HttpStepOutput, HttpStepRequest } from './workflow/http-step.ts';
export type { Iteration, LoopOptions, LoopOverOptions } from './workflow/loop-steps.ts';
export type {
  Given,
  GivenFields,
  MapStep,
  Perhaps,
  Reference,
  Step,
} from './workflow/reference.ts';
export type { RunHandle } from './workflow/run-handle.ts';
export type {
  RunDefinition,
  RunError,
  RunStatus,
  RunSummary,
  StepState,
  StepView,
  WorkflowChange,
  WorkflowView,
} from './workflow/run-types.ts';
export type {
  RunView,
  StartManyOptions,
  StartOptions,
  WorkflowVersionView,
} from './workflow/run-view.ts';
export type {
  EventOutput,
  EventReceiver,
  Termination,
  WaitFor,
} from './workflow/single-steps.ts';
export type { StepOptions } from './workflow/step-options.ts';
export {
  type AnyWorkflow,
  type InputType,
  inputOf,
  type JsonSchema,
  type RunCallbackOptions,
  type Workflow,
  type WorkflowJson,
} from './workflow/workflow.ts';
export type { NameOptions, ScriptOptions, WorkflowBuilder } from './workflow/workflow-builder.ts';
