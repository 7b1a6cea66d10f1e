import type { AnyTask } from '../task/define-task.ts';
import type { Each } from './reference.ts';
import { referenceTo } from './reference-proxy.ts';
import type { Scope } from './scope.ts';
import { StepHandle } from './step-handle.ts';
import { fieldsJson, named } from './step-json.ts';
import { optionsJson, type StepOptions } from './step-options.ts';

/** The list that a step per element takes: objects are inputs, other elements a field of one. */
export type MapItems<Input> = readonly (Input extends { readonly input: infer Item }
  ? Input | Item
  : Input)[];

/** The tasks of a map, and what they returned. */
export class MapHandle<Output> extends StepHandle<Readonly<Record<string, Output>>> {
  /** What the tasks returned, in the order of the list. A field of it has that field of each. */
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
  readonly task: AnyTask | string;
  readonly list: unknown;
  readonly options: StepOptions;
}

/** FORK_JOIN_DYNAMIC with one task per element, and its JOIN. */
export function addMap<Output>(scope: Scope, mapped: Mapped): MapHandle<Output> {
  const { name, task, list, options } = mapped;
  const type = typeof task === 'string' ? task : task.type;
  const inputs = { forkTaskName: type, forkTaskInputs: list };
  const inputParameters = fieldsJson(scope, inputs, `the list of '${name}'`);
  const ofTasks = optionsJson(scope, task, { name, options });
  scope.take(name);
  scope.add({ ...named(name, 'FORK_JOIN_DYNAMIC'), inputParameters, ...ofTasks });
  const join = `${name}-join`;
  scope.take(join);
  scope.add({ ...named(join, 'JOIN'), joinOn: [] });
  return new MapHandle<Output>(join, scope);
}
