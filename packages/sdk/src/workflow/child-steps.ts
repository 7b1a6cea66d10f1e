import type { Step } from './reference.ts';
import type { Scope } from './scope.ts';
import { addStep, fieldsJson, named } from './step-json.ts';
import { stated } from './step-options.ts';
import type { AnyWorkflow } from './workflow.ts';

/** What a step that runs another workflow says beside its input. */
export interface SubWorkflowOptions<MayFail extends boolean = boolean> {
  /** For a workflow by its name. Default: the newest one. */
  readonly version?: number;
  /** If the run fails, this run goes on, and the output of the step is null. */
  readonly optional?: MayFail;
  /**
   * If the run fails, the other steps go on, the output of the step is null, and this run fails at
   * its end.
   */
  readonly permissive?: MayFail;
}

/** What a step that starts another workflow says beside its input. */
export interface StartWorkflowOptions {
  /** For a workflow by its name. Default: the newest one. */
  readonly version?: number;
  /** Default: that of this run. */
  readonly correlationId?: unknown;
}

interface Child<Options> {
  readonly name: string;
  readonly workflow: AnyWorkflow | string;
  readonly input: object;
  readonly options: Options;
}

/** SUB_WORKFLOW. */
export function addSubWorkflow<Output>(
  scope: Scope,
  { name, workflow, input, options }: Child<SubWorkflowOptions>,
): Step<Output> {
  const { version, optional, permissive } = options;
  const inputParameters = fieldsJson(scope, input, `the input of '${name}'`);
  const subWorkflowParam = usedWorkflow(scope, { name, workflow, version });
  const others = stated({ optional, permissive });
  return addStep(scope, {
    ...named(name, 'SUB_WORKFLOW'),
    inputParameters,
    subWorkflowParam,
    ...others,
  });
}

/** START_WORKFLOW. */
export function addStartWorkflow(
  scope: Scope,
  { name, workflow, input, options }: Child<StartWorkflowOptions>,
): Step<{ readonly workflowId: string }> {
  const { version, correlationId } = options;
  const which = usedWorkflow(scope, { name, workflow, version });
  const startWorkflow = stated({ ...which, input, correlationId });
  const inputParameters = fieldsJson(scope, { startWorkflow }, `the input of '${name}'`);
  return addStep(scope, { ...named(name, 'START_WORKFLOW'), inputParameters });
}

interface Used {
  readonly name: string;
  readonly workflow: AnyWorkflow | string;
  readonly version: number | undefined;
}

/** The workflow as the definition names it. One that this program defines is noted. */
export function usedWorkflow(
  { draft }: Scope,
  { name, workflow, version }: Used,
): { readonly name: string; readonly version?: number } {
  if (typeof workflow !== 'string') {
    if (version !== undefined && version !== workflow.version) {
      const what = `the workflow '${workflow.name}' has the version ${workflow.version}`;
      throw draft.error(`step '${name}': ${what}; to run version ${version}, use its name`);
    }
    draft.uses.add(workflow);
    return { name: workflow.name, version: workflow.version };
  }
  if (workflow === draft.workflow && !draft.hasSwitch) {
    const what = `step '${name}' runs the workflow '${workflow}' itself`;
    const why = 'no w.switch before it can prevent that: a run would never end';
    throw draft.error(`${what}, and ${why}`);
  }
  return { name: workflow, ...(version === undefined ? {} : { version }) };
}
