import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import type { Nothing, Resolved, Step } from './reference.ts';
import { targetOf } from './reference-proxy.ts';
import { Draft, Scope } from './scope.ts';
import { StepHandle } from './step-handle.ts';
import { stated } from './step-options.ts';
import type {
  AnyWorkflow,
  InputType,
  JsonSchema,
  RunCallbackOptions,
  Workflow,
  WorkflowJson,
} from './workflow.ts';
import { WorkflowBuilder } from './workflow-builder.ts';

export interface WorkflowOptions<Input, Defaults extends keyof Input, Variables> {
  /** From 1 on. A version that had a run never changes: raise it with every change. */
  readonly version: number;
  /** The type of the input: `inputOf<Order>()`. */
  readonly input?: InputType<Input>;
  /** Values for fields that the input of a run does not have. */
  readonly inputTemplate?: { readonly [K in Defaults]: Exclude<Input[K], undefined> };
  /** A JSON Schema. A run with another input is refused. */
  readonly inputSchema?: JsonSchema;
  /** A JSON Schema. A run with another output fails. */
  readonly outputSchema?: JsonSchema;
  /** Variables at the start, which `w.set` changes. */
  readonly variables?: Variables;
  /** A run that takes longer ends as `timed_out`. Default: no bound. */
  readonly timeoutSeconds?: number;
  /** Started when a run fails or times out; its input says what happened. */
  readonly failureWorkflow?: AnyWorkflow | string;
  /** A receiver that is called when a run ends. */
  readonly callback?: RunCallbackOptions;
  readonly description?: string;
}

const FIELDS: FieldsOf<WorkflowOptions<unknown, never, unknown>> = {
  version: true,
  input: true,
  inputTemplate: true,
  inputSchema: true,
  outputSchema: true,
  variables: true,
  timeoutSeconds: true,
  failureWorkflow: true,
  callback: true,
  description: true,
};

/** The input as the steps see it: fields with a default are always there. */
type FilledInput<Input, Defaults extends keyof Input> = [Defaults] extends [never]
  ? Input
  : Input & { readonly [K in Defaults]-?: Exclude<Input[K], undefined> };

/** A step returns its own output; nothing returns the output of the last step. */
type OutputOf<Result> =
  Result extends Step<infer Output>
    ? Output
    : [Result] extends [Nothing]
      ? unknown
      : { readonly [K in keyof Result]: Resolved<Result[K]> };

const NAME = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * Defines a workflow. `build` adds its steps, once and at once. It returns the output of a run: an
 * object with references, or the last step.
 */
export function defineWorkflow<
  Result extends object | Nothing,
  Input = unknown,
  Defaults extends keyof Input = never,
  Variables = unknown,
>(
  name: string,
  options: WorkflowOptions<Input, Defaults, Variables>,
  build: (w: WorkflowBuilder<FilledInput<Input, Defaults>, Variables>) => Result,
): Workflow<Input, OutputOf<Result>> {
  if (!NAME.test(name)) {
    throw new TypeError(
      `'${name}' is not a valid name of a workflow: use 1 to 128 letters A to Z or a to z, ` +
        'digits and . _ : - without spaces, such as send-order',
    );
  }
  refuseUnknownFields(options, FIELDS, `the options of the workflow '${name}'`);
  const { version, description, inputTemplate, variables, timeoutSeconds } = options;
  const { failureWorkflow, inputSchema, outputSchema, callback } = options;
  const draft = new Draft(name);
  if (!Number.isInteger(version) || version < 1) {
    throw draft.error(`version must be a whole number from 1 on, and is ${String(version)}`);
  }
  if (timeoutSeconds !== undefined && !(Number.isInteger(timeoutSeconds) && timeoutSeconds > 0)) {
    const found = String(timeoutSeconds);
    throw draft.error(`timeoutSeconds must be a whole number from 1 on, and is ${found}`);
  }
  const whole = new Scope(draft, 'the workflow');
  const [tasks, outputParameters] = built(whole, build as (w: WorkflowBuilder) => unknown);
  const fields = {
    name,
    version,
    description,
    tasks,
    inputTemplate: whole.plain(inputTemplate, 'inputTemplate'),
    inputSchema: whole.plain(inputSchema, 'inputSchema'),
    outputSchema: whole.plain(outputSchema, 'outputSchema'),
    variables: whole.plain(variables, 'variables'),
    outputParameters,
    timeoutSeconds,
    ...failureFields(draft, failureWorkflow),
    callback: whole.plain(callback, 'callback'),
  };
  return { name, version, definition: stated(fields) as WorkflowJson, uses: [...draft.uses] };
}

function failureFields(draft: Draft, workflow: AnyWorkflow | string | undefined): object {
  if (workflow === undefined) return {};
  if (typeof workflow === 'string') return { failureWorkflow: workflow };
  draft.uses.add(workflow);
  return { failureWorkflow: workflow.name, failureWorkflowVersion: workflow.version };
}

/** The steps of the workflow, and the output of a run. */
function built(
  whole: Scope,
  build: (w: WorkflowBuilder) => unknown,
): [steps: unknown, output: unknown] {
  const { draft, steps } = whole;
  const result = whole.complete(build(new WorkflowBuilder(whole)));
  if (steps.length === 0) throw draft.error('it has no step');
  const output = result instanceof StepHandle ? lastStep(whole, result) : outputOf(whole, result);
  return [steps, output];
}

/** The output of the last step is the output of the run by itself. */
function lastStep({ draft, steps }: Scope, { name }: StepHandle<unknown>): undefined {
  if (steps.at(-1)?.taskReferenceName === name) return undefined;
  const what = `it returns the step '${name}', which is not the last step`;
  throw draft.error(`${what}; return an object: { result: step.output }`);
}

function outputOf(scope: Scope, result: unknown): unknown {
  if (result === undefined) return undefined;
  const isObject = typeof result === 'object' && result !== null && !Array.isArray(result);
  if (isObject && targetOf(result) === undefined) return scope.json(result, 'the output');
  throw scope.draft.error('the output must be an object: return { url: step.output.url }');
}
