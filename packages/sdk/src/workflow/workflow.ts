/** Carries the types of a workflow for the compiler. It does not exist at run time. */
declare const TYPES: unique symbol;

/** A definition in the form of Conductor, as plain JSON. */
export interface WorkflowJson {
  readonly name: string;
  readonly version: number;
  readonly description?: string;
  readonly tasks: readonly Readonly<Record<string, unknown>>[];
  readonly inputTemplate?: Readonly<Record<string, unknown>>;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly outputParameters?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly timeoutSeconds?: number;
  readonly failureWorkflow?: string;
  readonly failureWorkflowVersion?: number;
  readonly callback?: RunCallbackOptions;
}

/** The URL to call when a run ends. */
export interface RunCallbackOptions {
  readonly url: string;
  /** Default: all of them. */
  readonly on?: readonly ('succeeded' | 'failed' | 'timed_out' | 'cancelled')[];
  /** Signs the message: `whsec_` and base64. Default: the secret of the server. */
  readonly secret?: string;
}

/** A JSON Schema, as plain JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A workflow with the types of its input and output. */
export interface Workflow<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly version: number;
  /** What the server gets. */
  readonly definition: WorkflowJson;
  /** Workflows that its runs start. They are registered with it. */
  readonly uses: readonly AnyWorkflow[];
  readonly [TYPES]?: (input: Input) => Output;
}

/** A workflow with any input and output. */
export type AnyWorkflow = Workflow<never, unknown>;

/** Carries the type of an input for the compiler. */
export interface InputType<Input> {
  readonly [TYPES]?: (input: Input) => Input;
}

/** Says what the input of a workflow is: `input: inputOf<{ amount: number }>()`. */
export function inputOf<Input>(): InputType<Input> {
  return {};
}
