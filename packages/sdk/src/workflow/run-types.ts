// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
import type { TaskError } from '../task/api-types.ts';

export type RunStatus = 'running' | 'paused' | 'succeeded' | 'failed' | 'timed_out' | 'cancelled';

/**
 * skipped: the run has ended without this step, because its case was not taken or the run did not
 * get there.
 */
export type StepState =
  | 'pending'
  | 'running'
  | 'succeeded'
  | 'completed_with_errors'
  | 'failed'
  | 'timed_out'
  | 'skipped'
  | 'cancelled';

export interface RunRequest {
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly workflow: string;
  /** Default: the newest one. */
  readonly version?: number;
  /** A definition for this run, which need not be registered. */
  readonly definition?: {
    /**
     * The steps, in order: taskReferenceName, type (SIMPLE by default; the page "Steps of
     * workflows" lists all), name, inputParameters and the fields of the type.
     */
    readonly tasks: readonly Readonly<Record<string, unknown>>[];
    /** Defaults of input fields. */
    readonly inputTemplate?: Readonly<Record<string, unknown>>;
    /** The output of a run; by default the output of its last step. */
    readonly outputParameters?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose input does not fit is refused. */
    readonly inputSchema?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose output does not fit fails. */
    readonly outputSchema?: Readonly<Record<string, unknown>>;
    /** With false the schemas have no effect. */
    readonly enforceSchema?: boolean;
    /** Variables at the start. */
    readonly variables?: Readonly<Record<string, unknown>>;
    /** A run that takes longer ends as timed_out. */
    readonly timeoutSeconds?: number;
    /** A workflow that is started when a run fails or times out. */
    readonly failureWorkflow?: string;
    /** Default: the newest one. */
    readonly failureWorkflowVersion?: number;
    /** Called when a run ends: url, on (a list of ends) and secret. */
    readonly callback?: Readonly<Record<string, unknown>>;
  };
  /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
  readonly input?: unknown;
  /** 8 runs first. Default 4. */
  readonly priority?: number;
  /** A second start of this workflow with this key and the same input returns the same run. */
  readonly dedupeKey?: string;
  /** How long the key is stored, from the first start. Default 86400000. */
  readonly dedupeWindowMs?: number;
  /** Your own id for what the run is about. Runs are found by it. */
  readonly correlationId?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface StartedRun {
  readonly id: string;
  readonly status: RunStatus;
  readonly deduplicated: boolean;
}

export interface RunError {
  readonly message: string;
  /** The same as `reason`. */
  readonly code: string;
  /** Reference of the step that decided it. */
  readonly step?: string;
  /** The run of its failureWorkflow. */
  readonly failureRunId?: string;
  /** Why its failureWorkflow did not start. */
  readonly failureProblem?: string;
}

export interface StepView {
  readonly reference: string;
  /** Type of the step, such as SIMPLE. */
  readonly type: string;
  /** Task type of a SIMPLE step. */
  readonly name: string;
  /**
   * skipped: the run has ended without this step, because its case was not taken or the run did not
   * get there.
   */
  readonly state: StepState;
  /** Why it ended so; empty where the state says it all. */
  readonly reason: string;
  /** Attempts of its task so far. */
  readonly attempt: number;
  readonly taskId: string | null;
  /** The run that a SUB_WORKFLOW or a START_WORKFLOW started. */
  readonly childRunId: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Input of its task. Absent if it is a blob. */
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  /** Absent if it is a blob. */
  readonly output?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly outputBlob?: string;
  /** Error of its task. */
  readonly error: TaskError | null;
}

export interface RunSummary {
  readonly id: string;
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly workflow: string;
  /** Null for a definition that came with the run. */
  readonly version: number | null;
  readonly status: RunStatus;
  /** How a running run will end, once its tasks have stopped. */
  readonly endingAs?: RunStatus;
  /** Why it ended so; empty where the status says it all. */
  readonly reason: string;
  readonly priority: number;
  readonly correlationId: string | null;
  /** The run that started it. */
  readonly parent: {
    readonly runId: string;
    /** Reference of the step that started it; null if it is a failure workflow. */
    readonly step: string | null;
    /** The parent waits for a sub_workflow only. */
    readonly relation: 'sub_workflow' | 'start_workflow' | 'failure_workflow';
  } | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Steps by state. */
  readonly counts: Readonly<Record<string, number>>;
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  /** Absent if it is a blob. */
  readonly output?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly outputBlob?: string;
  readonly error: RunError | null;
}

export interface RunView {
  readonly id: string;
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly workflow: string;
  /** Null for a definition that came with the run. */
  readonly version: number | null;
  readonly status: RunStatus;
  /** How a running run will end, once its tasks have stopped. */
  readonly endingAs?: RunStatus;
  /** Why it ended so; empty where the status says it all. */
  readonly reason: string;
  readonly priority: number;
  readonly correlationId: string | null;
  /** The run that started it. */
  readonly parent: {
    readonly runId: string;
    /** Reference of the step that started it; null if it is a failure workflow. */
    readonly step: string | null;
    /** The parent waits for a sub_workflow only. */
    readonly relation: 'sub_workflow' | 'start_workflow' | 'failure_workflow';
  } | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Steps by state. */
  readonly counts: Readonly<Record<string, number>>;
  readonly input?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly inputBlob?: string;
  /** Absent if it is a blob. */
  readonly output?: unknown;
  /**
   * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
   * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
   */
  readonly outputBlob?: string;
  readonly error: RunError | null;
  readonly variables: unknown;
  /**
   * In the order of the definition: at most 1,000, and at most 1 MiB of payloads. The output of a
   * JOIN is not repeated: see the steps that it waits for.
   */
  readonly steps: readonly StepView[];
  /** Cursor of GET /v1/runs/{id}/steps for the steps that are not shown, or null. */
  readonly stepsCursor: string | null;
}

export interface RunDefinition {
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly workflow: string;
  /** Null for a definition that came with the run. */
  readonly version: number | null;
  /** A definition in the form of Conductor, up to 1 MiB of JSON. */
  readonly definition: {
    /**
     * The steps, in order: taskReferenceName, type (SIMPLE by default; the page "Steps of
     * workflows" lists all), name, inputParameters and the fields of the type.
     */
    readonly tasks: readonly Readonly<Record<string, unknown>>[];
    /** Defaults of input fields. */
    readonly inputTemplate?: Readonly<Record<string, unknown>>;
    /** The output of a run; by default the output of its last step. */
    readonly outputParameters?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose input does not fit is refused. */
    readonly inputSchema?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose output does not fit fails. */
    readonly outputSchema?: Readonly<Record<string, unknown>>;
    /** With false the schemas have no effect. */
    readonly enforceSchema?: boolean;
    /** Variables at the start. */
    readonly variables?: Readonly<Record<string, unknown>>;
    /** A run that takes longer ends as timed_out. */
    readonly timeoutSeconds?: number;
    /** A workflow that is started when a run fails or times out. */
    readonly failureWorkflow?: string;
    /** Default: the newest one. */
    readonly failureWorkflowVersion?: number;
    /** Called when a run ends: url, on (a list of ends) and secret. */
    readonly callback?: Readonly<Record<string, unknown>>;
  };
}

export interface WorkflowView {
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly name: string;
  /** Newest first. */
  readonly versions: readonly {
    readonly version: number;
    /** SHA-256 of the definition as compact JSON, in hex. */
    readonly hash: string;
    /** Number of steps. */
    readonly steps: number;
    readonly registeredAt: string;
  }[];
}

export interface WorkflowVersionView {
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly name: string;
  readonly version: number;
  /** SHA-256 of the definition as compact JSON, in hex. */
  readonly hash: string;
  /** Number of steps. */
  readonly steps: number;
  readonly registeredAt: string;
  /** A definition in the form of Conductor, up to 1 MiB of JSON. */
  readonly definition: {
    /**
     * The steps, in order: taskReferenceName, type (SIMPLE by default; the page "Steps of
     * workflows" lists all), name, inputParameters and the fields of the type.
     */
    readonly tasks: readonly Readonly<Record<string, unknown>>[];
    /** Defaults of input fields. */
    readonly inputTemplate?: Readonly<Record<string, unknown>>;
    /** The output of a run; by default the output of its last step. */
    readonly outputParameters?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose input does not fit is refused. */
    readonly inputSchema?: Readonly<Record<string, unknown>>;
    /** A JSON Schema. A run whose output does not fit fails. */
    readonly outputSchema?: Readonly<Record<string, unknown>>;
    /** With false the schemas have no effect. */
    readonly enforceSchema?: boolean;
    /** Variables at the start. */
    readonly variables?: Readonly<Record<string, unknown>>;
    /** A run that takes longer ends as timed_out. */
    readonly timeoutSeconds?: number;
    /** A workflow that is started when a run fails or times out. */
    readonly failureWorkflow?: string;
    /** Default: the newest one. */
    readonly failureWorkflowVersion?: number;
    /** Called when a run ends: url, on (a list of ends) and secret. */
    readonly callback?: Readonly<Record<string, unknown>>;
  };
}

export interface WorkflowChange {
  /** Name of a workflow: letters, digits and . _ : - , at most 128. */
  readonly name: string;
  readonly version: number;
  /** SHA-256 of the definition as compact JSON, in hex. */
  readonly hash: string;
  /** Against what was registered before. */
  readonly change: 'new' | 'changed' | 'unchanged';
  readonly dryRun: boolean;
  /** Fields that have no effect. */
  readonly warnings: readonly {
    /** JSON pointer into the definition. */
    readonly path: string;
    readonly message: string;
  }[];
}
