import type { WaitOptions } from '../task/task-handle.ts';
import type { TaskError } from '../task/task-view.ts';
import type {
  RunRequest,
  RunStatus,
  RunSummary,
  StartedRun,
  StepView,
  WorkflowChange,
  WorkflowView,
} from '../workflow/run-types.ts';
import type { RunView, WorkflowVersionView } from '../workflow/run-view.ts';
import type { WorkflowJson } from '../workflow/workflow.ts';
import type { Page, PageOptions } from './pages.ts';

/** Selects runs: all given conditions must hold. */
export interface RunQuery {
  /** Name of the workflow. */
  readonly workflow?: string;
  readonly status?: RunStatus;
  readonly correlationId?: string;
  /** Tags that the run has. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Started at this time or later: a date, ISO 8601, or milliseconds since 1970. */
  readonly since?: Date | string | number;
  /** Started before this time. */
  readonly until?: Date | string | number;
}

export interface PutWorkflowOptions {
  /** Only checks and compares, and registers nothing. */
  readonly dryRun?: boolean;
}

/** Where a rerun begins. */
export interface RerunFrom {
  /** Name of the step. In a loop this is the newest iteration. */
  readonly fromStep: string;
  /** Replaces the input of that step. */
  readonly input?: unknown;
}

/** Operations on workflows and runs that a server and a server in the same process both have. */
export interface RunPort {
  /**
   * Starts runs, all or none; at most 1,000. A single one is sent alone, so that errors about it
   * have no index.
   */
  start(runs: readonly RunRequest[], isSingle: boolean): Promise<readonly StartedRun[]>;
  getRun(id: string): Promise<RunView>;
  /** The run once it has ended, or its current state at the timeout. */
  waitForRun(id: string, options: WaitOptions): Promise<RunView>;
  cancelRun(id: string): Promise<RunView>;
  pauseRun(id: string): Promise<RunView>;
  resumeRun(id: string): Promise<RunView>;
  retryRun(id: string): Promise<RunView>;
  restartRun(id: string): Promise<RunView>;
  rerunRun(id: string, from: RerunFrom): Promise<RunView>;
  completeStep(id: string, step: string, output: unknown): Promise<RunView>;
  skipStep(id: string, step: string): Promise<RunView>;
  failStep(id: string, step: string, error: TaskError): Promise<RunView>;
  listRuns(query: RunQuery & PageOptions): Promise<Page<RunSummary>>;
  listSteps(id: string, page: PageOptions): Promise<Page<StepView>>;
  putWorkflow(definition: WorkflowJson, options: PutWorkflowOptions): Promise<WorkflowChange>;
  listWorkflows(page: PageOptions): Promise<Page<WorkflowView>>;
  getWorkflow(name: string): Promise<WorkflowView>;
  getVersion(name: string, version: number): Promise<WorkflowVersionView>;
  deleteVersion(name: string, version: number): Promise<void>;
}
