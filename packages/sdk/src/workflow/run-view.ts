import type {
  RunView as ApiRunView,
  WorkflowVersionView as ApiVersionView,
  RunRequest,
  RunStatus,
} from './run-types.ts';
import type { WorkflowJson } from './workflow.ts';

/** A run as the server shows it. Times are ISO 8601. A later server may show more. */
export interface RunView<Output = unknown> extends Omit<ApiRunView, 'output'> {
  /** Null until the run succeeded. */
  readonly output: Output | null;
}

/** A registered version of a workflow. */
export interface WorkflowVersionView extends Omit<ApiVersionView, 'definition'> {
  readonly definition: Partial<WorkflowJson> & Pick<WorkflowJson, 'tasks'>;
}

/** What a start may say. */
export interface StartOptions extends Omit<RunRequest, 'workflow' | 'input' | 'definition'> {
  /** For a workflow that is started by name. Default: the newest one. */
  readonly version?: number;
}

/** Options for all runs, or a function that returns them for each input. */
export type StartManyOptions<Input> =
  | StartOptions
  | ((input: Input, index: number) => StartOptions);

const ENDED: readonly RunStatus[] = ['succeeded', 'failed', 'timed_out', 'cancelled'];

/** Whether nothing happens in the run any more by itself. */
export function hasRunEnded({ status }: Pick<RunView, 'status'>): boolean {
  return ENDED.includes(status);
}
