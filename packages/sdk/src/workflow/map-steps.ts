import type { AnyTask } from '../task/define-task.ts';
import { type SubWorkflowOptions, usedWorkflow } from './child-steps.ts';
import type { Each } from './reference.ts';
import { referenceTo } from './reference-proxy.ts';
import type { Scope } from './scope.ts';
import { StepHandle } from './step-handle.ts';
import { fieldsJson, named } from './step-json.ts';
import { optionsJson, type StepOptions, stated } from './step-options.ts';
import type { AnyWorkflow } from './workflow.ts';

/** The list that a step per element takes: objects are inputs, other elements a field of one. */
export type MapItems<Input> = readonly (Input extends { readonly input: infer Item }
  ? Input | Item
  : Input)[];

/** The tasks or runs of a map, and what they returned. */
export class MapHandle<Output> extends StepHandle<Readonly<Record<string, Output>>> {
  /** What they returned, in the order of the list. A field of it has that field of each. */
  readonly outputs: Each<Output>;

  constructor(name: string, scope: Scope) {
    super(name, scope);
    this.outputs = referenceTo({ scope, step: name, path: `${name}.output[*]` }) as Each<Output>;
  }

  override inScope(scope: Scope): MapHandle<Output> {
    return new MapHandle(this.name, scope);
  }
}

interface Mapped {
  readonly name: string;
  readonly list: unknown;
}

interface MappedTask extends Mapped {
  readonly task: AnyTask | string;
  readonly options: StepOptions;
}

interface MappedWorkflow extends Mapped {
  readonly workflow: AnyWorkflow | string;
  readonly options: SubWorkflowOptions;
}

/** FORK_JOIN_DYNAMIC with one task per element, and its JOIN. */
export function addMap<Output>(scope: Scope, mapped: MappedTask): MapHandle<Output> {
  const { name, task, list, options } = mapped;
  const type = typeof task === 'string' ? task : task.type;
  const inputs = { forkTaskName: type, forkTaskInputs: list };
  return addFork(scope, { name, inputs, others: optionsJson(scope, task, { name, options }) });
}

/** FORK_JOIN_DYNAMIC with one run per element, and its JOIN. */
export function addMapOfRuns<Output>(scope: Scope, mapped: MappedWorkflow): MapHandle<Output> {
  const { name, workflow, list, options } = mapped;
  const { version, optional, permissive } = options;
  const which = usedWorkflow(scope, { name, workflow, version });
  const inputs = {
    forkTaskWorkflow: which.name,
    ...stated({ forkTaskWorkflowVersion: which.version }),
    forkTaskInputs: list,
  };
  return addFork(scope, { name, inputs, others: stated({ optional, permissive }) });
}

interface Fork {
  readonly name: string;
  readonly inputs: object;
  /** Fields of the step beside its inputs. */
  readonly others: object;
}

function addFork<Output>(scope: Scope, { name, inputs, others }: Fork): MapHandle<Output> {
  const inputParameters = fieldsJson(scope, inputs, `the list of '${name}'`);
  scope.take(name);
  scope.add({ ...named(name, 'FORK_JOIN_DYNAMIC'), inputParameters, ...others });
  const join = `${name}-join`;
  scope.take(join);
  scope.add({ ...named(join, 'JOIN'), joinOn: [] });
  return new MapHandle<Output>(join, scope);
}
