import type { CommandExec, ContainerExec } from '../task/exec-types.ts';
import type { Given, GivenFields, Step } from './reference.ts';
import type { Scope } from './scope.ts';
import { addStep, fieldsJson } from './step-json.ts';
import { optionsJson, type StepOptions } from './step-options.ts';

/** A program for an agent: any value in it may be a reference to what an earlier step gave. */
export type StepExec = GivenFields<CommandExec> | GivenFields<ContainerExec>;

/** Options of a step that runs a program. */
export interface ExecStepOptions<MayFail extends boolean = boolean> extends StepOptions<MayFail> {
  /** What the program reads from the file `SLUICE_INPUT`. */
  readonly input?: GivenFields<unknown>;
}

interface ExecStep {
  readonly name: string;
  readonly exec: StepExec | readonly Given<string>[];
  readonly options: ExecStepOptions;
}

/** SIMPLE with `exec`. */
export function addExec<Output>(scope: Scope, { name, exec, options }: ExecStep): Step<Output> {
  const { input = {}, ...others } = options;
  const program = Array.isArray(exec) ? { command: exec } : exec;
  const type = 'image' in program ? 'container' : 'command';
  return addStep(scope, {
    name: type,
    taskReferenceName: name,
    type: 'SIMPLE',
    exec: fieldsJson(scope, program, `the program of step '${name}'`),
    inputParameters: fieldsJson(scope, input, `the input of step '${name}'`),
    ...optionsJson(scope, type, { name, options: others }),
  });
}
