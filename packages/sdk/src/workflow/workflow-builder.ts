import type { AnyTask, TaskDefinition } from '../task/define-task.ts';
import { addCallback, type CallbackTarget } from './callback-step.ts';
import {
  addStartWorkflow,
  addSubWorkflow,
  type StartWorkflowOptions,
  type SubWorkflowOptions,
} from './child-steps.ts';
import { addExec, type ExecStepOptions, type StepExec } from './exec-step.ts';
import { addHttp, type HttpStepOutput, type HttpStepRequest } from './http-step.ts';
import { addLoop, type Iteration, type LoopOptions, type LoopOverOptions } from './loop-steps.ts';
import { addMap, addMapOfRuns, type MapItems } from './map-steps.ts';
import {
  addFirstOf,
  addFork,
  addSwitch,
  type Build,
  type BuildAll,
  type CaseNames,
} from './path-steps.ts';
import type {
  Given,
  GivenFields,
  MapStep,
  Perhaps,
  Reference,
  ReferenceTo,
  Resolved,
  Step,
} from './reference.ts';
import { fieldPath, referenceTo, targetOf } from './reference-proxy.ts';
import type { Scope } from './scope.ts';
import {
  addEvent,
  addInline,
  addTerminate,
  addWait,
  type EventOutput,
  type EventReceiver,
  type Termination,
  type WaitFor,
} from './single-steps.ts';
import { addStep, fieldsJson, named } from './step-json.ts';
import { optionsJson, type StepOptions } from './step-options.ts';
import type { AnyWorkflow, Workflow } from './workflow.ts';

/** A name for a step that nobody needs to name. Default: its kind and a number. */
export interface NameOptions {
  readonly name?: string;
}

/** A script that decides. */
export interface ScriptOptions {
  /** JavaScript; the value of its last statement counts: `$.amount > 100 ? 'large' : 'small'`. */
  readonly script: string;
  /** What the script sees as `$`. */
  readonly input?: GivenFields<unknown>;
}

/**
 * Adds steps to a workflow, in the order in which they run. A branch, a case or a loop gets a
 * separate builder.
 */
export class WorkflowBuilder<Input = unknown, Variables = unknown> {
  /** The input of the run. */
  readonly input: Reference<Input>;
  /** The variables of the run, which `set` changes. */
  readonly variables: Reference<Variables>;
  /** Id of the run. */
  readonly runId: Reference<string>;
  /** `correlationId` of the start. */
  readonly correlationId: Reference<string | null>;
  private readonly scope: Scope;

  /** Made by `defineWorkflow`. */
  constructor(scope: Scope) {
    const field = (path: string): unknown => referenceTo({ scope, step: '', path });
    this.scope = scope;
    this.input = field('workflow.input') as Reference<Input>;
    this.variables = field('workflow.variables') as Reference<Variables>;
    this.runId = field('workflow.workflowId') as Reference<string>;
    this.correlationId = field('workflow.correlationId') as Reference<string | null>;
  }

  /**
   * Runs a task. `task` is a definition, or the name of a type that is defined elsewhere. Its input
   * is an object whose fields are values or references.
   */
  step<Output = unknown, TaskInput = unknown, MayFail extends boolean = false>(
    name: string,
    task: TaskDefinition<TaskInput, Output> | string,
    input: NoInfer<GivenFields<TaskInput>>,
    options?: StepOptions<MayFail>,
  ): Step<MayFail extends true ? Output | null : Output>;
  /** Runs a task that needs no input. */
  step<Output = unknown>(
    name: string,
    task: TaskDefinition<undefined, Output> | string,
  ): Step<Output>;
  step(
    name: string,
    task: AnyTask | string,
    input: object = {},
    options: StepOptions = {},
  ): unknown {
    const { scope } = this;
    return addStep(scope, {
      name: typeof task === 'string' ? task : task.type,
      taskReferenceName: name,
      type: 'SIMPLE',
      inputParameters: fieldsJson(scope, input, `the input of step '${name}'`),
      ...optionsJson(scope, task, { name, options }),
    });
  }

  /**
   * Runs a program or a container on an agent: a list of arguments, or an object with `command` or
   * `image`. Its output is what the program wrote as its result (see docs/agent.md).
   */
  exec<Output = unknown, MayFail extends boolean = false>(
    name: string,
    exec: StepExec | readonly Given<string>[],
    options: ExecStepOptions<MayFail> = {},
  ): Step<MayFail extends true ? Output | null : Output> {
    return addExec(this.scope, { name, exec, options });
  }

  /**
   * Runs branches side by side, and goes on when all of them have ended. Returns what the branches
   * return.
   */
  fork<Results extends object>(
    branches: { readonly [K in keyof Results]: Build<Input, Variables, Results[K]> },
    { name = this.free('fork') }: NameOptions = {},
  ): Results {
    return addFork(this.scope, this.inScopes(branches), name) as Results;
  }

  /**
   * Takes the case that has the name of the value, or else `otherwise`. Returns what the cases
   * return, by their names and as `otherwise`; what was not taken is null.
   */
  switch<Value extends string | number | boolean | null, Results extends object, Other = undefined>(
    value: ReferenceTo<Value>,
    cases: {
      readonly [K in keyof Results]: K extends CaseNames<Value>
        ? Build<Input, Variables, Results[K]>
        : never;
    },
    otherwise?: Build<Input, Variables, Other>,
    { name = this.free('switch') }: NameOptions = {},
  ): { readonly [K in keyof Results]: Perhaps<Results[K]> } & {
    readonly otherwise: Perhaps<Other>;
  } {
    const { otherwise: other } = this.inScopes({ otherwise: otherwise ?? (() => undefined) });
    const decision = { by: { value }, cases: this.inScopes(cases), otherwise: other };
    return addSwitch(this.scope, name, decision) as never;
  }

  /** The same as `switch`, for what a script gives. `$` has the fields of `input`. */
  switchBy<Results extends object, Other = undefined>(
    { script, input = {}, name = this.free('switch') }: ScriptOptions & NameOptions,
    cases: { readonly [K in keyof Results]: Build<Input, Variables, Results[K]> },
    otherwise?: Build<Input, Variables, Other>,
  ): { readonly [K in keyof Results]: Perhaps<Results[K]> } & {
    readonly otherwise: Perhaps<Other>;
  } {
    const { otherwise: other } = this.inScopes({ otherwise: otherwise ?? (() => undefined) });
    const decision = { by: { script, input }, cases: this.inScopes(cases), otherwise: other };
    return addSwitch(this.scope, name, decision) as never;
  }

  /**
   * The output of the first of these steps that ran: behind a `switch`, of the case that was taken.
   */
  firstOf<Outputs extends readonly [unknown, ...unknown[]]>(
    steps: { readonly [K in keyof Outputs]: Pick<Step<Outputs[K]>, 'output'> },
    { name = this.free('first') }: NameOptions = {},
  ): Step<Outputs[number]> {
    return addFirstOf(this.scope, name, steps as readonly Pick<Step, 'output'>[]);
  }

  /** Changes variables of the run. What is not named stays. */
  set(
    variables: Partial<GivenFields<Variables>>,
    { name = this.free('set') }: NameOptions = {},
  ): void {
    const inputParameters = fieldsJson(this.scope, variables, `the variables of '${name}'`);
    addStep(this.scope, { ...named(name, 'SET_VARIABLE'), inputParameters });
  }

  /** Ends the run. Steps cannot follow. */
  terminate(how: Termination, { name = this.free('terminate') }: NameOptions = {}): void {
    addTerminate(this.scope, name, how);
  }

  /** Does nothing. */
  noop({ name = this.free('noop') }: NameOptions = {}): void {
    addStep(this.scope, named(name, 'NOOP'));
  }

  /**
   * Runs a task for each element of a list, side by side, and goes on when all of them have ended.
   * An element that is an object is the input of its task; any other one is its field `input`. The
   * input also has the number of the element as `__index`. The options are those of each task.
   * `each` is a definition, the name of a type that is defined elsewhere, or a workflow: then it is
   * a run for each element.
   */
  map<Output = unknown, EachInput = unknown, MayFail extends boolean = false>(
    list: NoInfer<Given<MapItems<EachInput>>>,
    each: TaskDefinition<EachInput, Output> | Workflow<EachInput, Output> | string,
    {
      name = this.free('map'),
      ...options
    }: (StepOptions<MayFail> | SubWorkflowOptions<MayFail>) & NameOptions = {},
  ): MapStep<MayFail extends true ? Output | null : Output> {
    if (typeof each !== 'string' && 'definition' in each) {
      return addMapOfRuns(this.scope, { name, workflow: each, list, options });
    }
    return addMap(this.scope, { name, task: each, list, options });
  }

  /** Repeats steps while a JavaScript expression says so. Returns what the last pass returns. */
  loop<Result>(
    options: LoopOptions & NameOptions,
    body: Build<Input, Variables, Result, Pick<Iteration, 'count'>>,
  ): Result {
    const { name = this.free('loop') } = options;
    return addLoop(this.scope, { ...options, name, body: this.passes(body) }) as Result;
  }

  /** Repeats steps for each element of a list, one after the other. */
  loopOver<Item, Result>(
    list: ReferenceTo<readonly Item[]>,
    body: Build<Input, Variables, Result, Iteration<Item>>,
    options: LoopOverOptions & NameOptions = {},
  ): Perhaps<Result> {
    const { name = this.free('loop') } = options;
    const loop = { ...options, name, over: list, body: this.passes(body) };
    return addLoop(this.scope, loop) as Perhaps<Result>;
  }

  /** Waits for a time, or until a call completes the step. */
  wait<Output = unknown>(name: string, until: WaitFor = {}): Step<Output> {
    return addWait(this.scope, name, until);
  }

  /** Waits until a person completes the step with an output. `input` is what they see. */
  human<Output = unknown>(name: string, input: GivenFields<unknown> = {}): Step<Output> {
    const inputParameters = fieldsJson(this.scope, input, `the input of '${name}'`);
    return addStep(this.scope, { ...named(name, 'HUMAN'), inputParameters });
  }

  /** Evaluates JavaScript on the server. `$` has the fields of the input. */
  inline<Result = unknown>(
    name: string,
    expression: string,
    input: GivenFields<unknown> = {},
  ): Step<{ readonly result: Result }> {
    return addInline(this.scope, { name, expression, input });
  }

  /**
   * Sends a request from the server. `Body` is the type of the answer's body. An answer that is no
   * success fails the step.
   */
  http<Body = unknown, MayFail extends boolean = false>(
    name: string,
    request: HttpStepRequest,
    options: StepOptions<MayFail> = {},
  ): Step<MayFail extends true ? HttpStepOutput<Body> | null : HttpStepOutput<Body>> {
    return addHttp(this.scope, { name, request, options });
  }

  /** Calls a receiver with `data`. The server delivers it, also after the run has ended. */
  callback(name: string, to: CallbackTarget, data: GivenFields<unknown> = {}): Step<null> {
    return addCallback(this.scope, { name, to, data });
  }

  /** Publishes an event under this name in the stream of events, or calls a receiver with it. */
  event<Payload extends object = Record<never, never>>(
    name: string,
    event: string,
    payload?: Payload,
  ): Step<EventOutput<Resolved<Payload>>>;
  event(name: string, to: EventReceiver, payload?: GivenFields<unknown>): Step<null>;
  event(name: string, to: string | EventReceiver, payload: object = {}): object {
    return addEvent(this.scope, { name, to, payload });
  }

  /** Runs another workflow and waits for its end. Its output is the output of the step. */
  subWorkflow<Output = unknown, ChildInput = unknown, MayFail extends boolean = false>(
    name: string,
    workflow: Workflow<ChildInput, Output> | string,
    input: NoInfer<GivenFields<ChildInput>>,
    options: SubWorkflowOptions<MayFail> = {},
  ): Step<MayFail extends true ? Output | null : Output> {
    const child = workflow as AnyWorkflow | string;
    return addSubWorkflow(this.scope, { name, workflow: child, input, options });
  }

  /** Starts another workflow and does not wait for it. */
  startWorkflow<ChildInput = unknown>(
    name: string,
    workflow: Workflow<ChildInput, unknown> | string,
    input: NoInfer<GivenFields<ChildInput>>,
    options: StartWorkflowOptions = {},
  ): Step<{ readonly workflowId: string }> {
    const child = workflow as AnyWorkflow | string;
    return addStartWorkflow(this.scope, { name, workflow: child, input, options });
  }

  /** The number of elements of a list. */
  lengthOf(list: ReferenceTo<readonly unknown[]>): Reference<number> {
    return derived(list, (path) => `${path}.length()`) as Reference<number>;
  }

  /** The last element of a list. */
  lastOf<Item>(list: ReferenceTo<readonly Item[]>): Reference<Item> {
    return derived(list, (path) => `${path}[-1]`) as Reference<Item>;
  }

  /** One field of all elements of a list, as a list. */
  eachOf<Item, Field extends keyof Item & string>(
    list: ReferenceTo<readonly Item[]>,
    field: Field,
  ): Reference<readonly Item[Field][]> {
    return derived(list, (path) => fieldPath(`${path}[*]`, field)) as never;
  }

  private free(kind: string): string {
    return this.scope.draft.freeName(kind);
  }

  /** The same functions, each with a builder for its scope. */
  private inScopes(builds: object): BuildAll {
    const entries = Object.entries(builds as Record<string, (w: WorkflowBuilder) => unknown>);
    return Object.fromEntries(
      entries.map(([name, build]) => [name, (scope) => build(new WorkflowBuilder(scope))]),
    );
  }

  private passes<Extra>(body: Build<Input, Variables, unknown, Extra>) {
    return (scope: Scope, iteration: Iteration): unknown => {
      return body(new WorkflowBuilder<Input, Variables>(scope), iteration as Extra);
    };
  }
}

function derived(list: unknown, path: (of: string) => string): unknown {
  const target = targetOf(list);
  if (target === undefined) throw new TypeError('it must be a reference to a list');
  return referenceTo({ ...target, path: path(target.path) });
}
