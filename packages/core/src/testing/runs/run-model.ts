import { type Entered, type ModelEnd, OUTSIDE, type Where, without } from './entered-step.ts';
import { BRANCH_DEFINITION, branchesOf, isDynamicFork, runsWorkflow } from './model-branches.ts';
import { isExclusive, isJoined, passJoin, takeFirst } from './model-joins.ts';
import {
  chosenBy,
  flatten,
  type ModelDefinition,
  type ModelStep,
  publishedBy,
  scriptOutput,
} from './model-steps.ts';
import { ModelValues } from './model-values.ts';

interface ModelOptions {
  /** A step ends with its child only when `takeChild` says so. */
  readonly isTold?: boolean;
  /** The workflow that branches of dynamic forks run. */
  readonly branch?: ModelDefinition;
}

/**
 * A naive interpreter of definitions. It knows neither programs nor counters: after each outcome it
 * walks the whole definition again and asks of every step whether it may begin. Its expressions
 * work on plain objects.
 */
export class RunModel {
  status: 'running' | 'paused' | 'stopping' | 'succeeded' | 'failed' | 'cancelled' = 'running';
  now = 0;
  output: unknown;
  readonly definition: ModelDefinition;
  readonly values: ModelValues;
  private readonly options: ModelOptions;
  private outcome: 'succeeded' | 'failed' | 'cancelled' = 'succeeded';
  /** Whether a step that the run can do without failed. */
  hasFailure = false;
  private decider: Entered | undefined;
  /** Steps that are passed over when they are reached. */
  readonly skipped = new Set<string>();
  /** Steps that only wait to be ended from outside once they are reached. */
  readonly held = new Set<string>();
  /** Inputs that replace those of the definition. */
  readonly inputs = new Map<string, unknown>();

  constructor(
    definition: ModelDefinition,
    input: unknown,
    now: number,
    options: ModelOptions = {},
  ) {
    this.definition = definition;
    this.values = new ModelValues(definition, input);
    this.options = options;
    this.now = now;
    this.settle();
  }

  /** By reference, with the iterations of the loops around it. */
  get entered(): Map<string, Entered> {
    return this.values.entered;
  }

  get variables(): Record<string, unknown> {
    return this.values.variables;
  }

  /** The worker of a step answered, or somebody ended the step. */
  report(key: string, succeeded: boolean, output: unknown): void {
    const step = this.values.find(key) as ModelStep;
    const entered = this.entered.get(key) as Entered;
    entered.isEvaluating = false;
    this.end(step, entered, { succeeded, output });
    this.settle();
  }

  private end(step: ModelStep, entered: Entered, { succeeded, output }: ModelEnd): void {
    if (this.status === 'stopping') entered.state = 'cancelled';
    else if (succeeded) Object.assign(entered, { state: 'succeeded', output });
    else this.fail(step, entered);
  }

  private fail(step: ModelStep, entered: Entered): void {
    entered.state = step.optional ? 'completed_with_errors' : 'failed';
    if (step.optional) return;
    if (step.permissive) this.hasFailure = true;
    else this.stop('failed', entered);
  }

  /** Whether the run ended because this step did not succeed. */
  wasDecidedBy(key: string): boolean {
    return this.decider !== undefined && this.decider === this.entered.get(key);
  }

  /** Whether a TERMINATE ended the run: a retry would only end it again, so it is refused. */
  get wasTerminated(): boolean {
    return [...this.entered.keys()].some((key) => this.values.find(key)?.type === 'TERMINATE');
  }

  /** Steps end with the runs that they wait for. */
  private takeChildren(): void {
    if (this.options.isTold) return;
    for (const [key, { child, state }] of this.entered) {
      if (child === undefined || state !== 'running') continue;
      if (this.status === 'stopping') child.cancel();
      child.settle();
      if (child.endedAs !== undefined) this.endWithChild(key);
    }
  }

  private endWithChild(key: string): void {
    const entered = this.entered.get(key) as Entered;
    const { endedAs, output } = entered.child as RunModel;
    this.end(this.values.find(key) as ModelStep, entered, {
      succeeded: endedAs === 'succeeded',
      output,
    });
  }

  /** The run that a step waits for has ended. */
  takeChild(key: string): void {
    this.endWithChild(key);
    this.settle();
  }

  /** How it will end, once it stops. */
  get endsAs(): string {
    return this.status === 'stopping' ? this.outcome : this.status;
  }

  /** How it ended; undefined while it has not. */
  get endedAs(): string | undefined {
    return ['running', 'paused', 'stopping'].includes(this.status) ? undefined : this.status;
  }

  /** The script of a step gave this. */
  evaluated(key: string, value: unknown): void {
    const step = this.values.find(key) as ModelStep;
    const entered = this.entered.get(key) as Entered;
    entered.isEvaluating = false;
    if (step.type === 'DO_WHILE') this.goOn(step, entered, value === true);
    else {
      entered.state = 'succeeded';
      entered.output = scriptOutput(step, value);
    }
    this.settle();
  }

  cancel(): void {
    if (this.status === 'running' || this.status === 'paused') this.stop('cancelled');
    this.settle();
  }

  /** Goes on after `change` of what was entered; returns the steps that were kept. */
  reviveAfter(change: () => void): ReadonlySet<string> {
    change();
    const kept = new Set(this.entered.keys());
    Object.assign(this, { status: 'running', outcome: 'succeeded', output: undefined });
    this.decider = undefined;
    this.settle();
    return kept;
  }

  pause(isPause: boolean): void {
    if (isPause && this.status === 'running') this.status = 'paused';
    if (!isPause && this.status === 'paused') this.status = 'running';
    this.settle();
  }

  /** Time has passed. */
  passTo(now: number): void {
    this.now = now;
    for (const entered of this.entered.values()) {
      entered.child?.passTo(now);
      const isDue = (entered.until ?? 0) > 0 && (entered.until ?? 0) <= now;
      if (isDue && entered.state === 'running') entered.state = 'succeeded';
    }
    this.settle();
  }

  private goOn(step: ModelStep, entered: Entered, isWanted: boolean): void {
    const begun = entered.iteration ?? 0;
    const isMore = entered.items === undefined || begun < entered.items.length;
    if (isWanted && isMore) entered.iteration = begun + 1;
    else entered.state = 'succeeded';
    if (step.type !== 'DO_WHILE') throw new Error('only a loop goes on');
  }

  private stop(outcome: RunModel['outcome'], decider?: Entered): void {
    this.status = 'stopping';
    this.outcome = outcome;
    this.decider = decider;
  }

  /** Begins everything that may begin, until nothing changes. */
  settle(): void {
    if (this.endedAs !== undefined) return;
    this.takeChildren();
    while (this.status === 'running' && this.walk(this.definition.tasks, '').changed) {
      this.takeChildren();
    }
    this.takeChildren();
    const isBusy = [...this.entered].some(([key, { state }]) => {
      return (
        state === 'running' &&
        (this.status === 'running' || this.values.find(key)?.type !== 'DO_WHILE')
      );
    });
    if (isBusy || (this.status !== 'running' && this.status !== 'stopping')) return;
    if (this.status === 'running') {
      this.outcome = this.hasFailure ? 'failed' : 'succeeded';
      if (!this.hasFailure) this.output = this.finalOutput();
    }
    this.status = this.outcome;
    // A loop that a TERMINATE in its body ended.
    for (const entered of this.entered.values()) {
      if (entered.state === 'running') entered.state = 'cancelled';
    }
  }

  /** Walks a list of steps. Each step begins when the one before it is over. */
  private walk(steps: readonly ModelStep[], suffix: string): { changed: boolean; over: boolean } {
    for (const [index, step] of steps.entries()) {
      if (!this.entered.has(step.taskReferenceName + suffix)) {
        const before = steps[index - 1];
        const isJoin = step.type === 'JOIN' || isExclusive(before, step);
        const isOpen = isJoin && !isJoined(this.values, { fork: before, join: step, suffix });
        if (isOpen) return { changed: false, over: false };
        this.enter(step, suffix);
        return { changed: true, over: false };
      }
      if (this.status !== 'running') return { changed: false, over: false };
      const inner = this.walkInside(step, suffix);
      if (inner.changed) return inner;
      if (!inner.over) return inner;
    }
    return { changed: false, over: true };
  }

  private walkInside(step: ModelStep, suffix: string): { changed: boolean; over: boolean } {
    const entered = this.entered.get(step.taskReferenceName + suffix) as Entered;
    if (step.type === 'SWITCH' && entered.state !== 'running') {
      return this.walk(this.values.caseOf(step, suffix), suffix);
    }
    if (isDynamicFork(step)) return { changed: false, over: true };
    if (step.type === 'FORK_JOIN') {
      for (const branch of step.forkTasks ?? []) {
        if (this.walk(branch, suffix).changed) return { changed: true, over: false };
      }
      return { changed: false, over: true };
    }
    // A loop that only waits to be ended from outside has no iteration.
    const isIn = entered.state === 'running' && entered.iteration !== undefined;
    if (step.type === 'DO_WHILE' && isIn && !entered.isEvaluating) {
      return this.walkLoop(step, entered, suffix);
    }
    return { changed: false, over: entered.state !== 'running' };
  }

  private walkLoop(
    step: ModelStep,
    entered: Entered,
    suffix: string,
  ): { changed: boolean; over: boolean } {
    const body = this.walk(step.loopOver ?? [], `${suffix}__${entered.iteration}`);
    if (body.changed || !body.over) return { ...body, over: false };
    if (step.loopCondition === undefined) this.goOn(step, entered, true);
    else entered.isEvaluating = true;
    return { changed: true, over: false };
  }

  /** Whether the step is skipped, or only waits to be ended from outside. */
  private passesOver(step: ModelStep, suffix: string): boolean {
    const key = step.taskReferenceName + suffix;
    const isHeld = this.held.delete(key);
    if (!this.skipped.delete(key) && !isHeld) return false;
    const entered: Entered = { state: isHeld ? 'running' : 'skipped', input: undefined };
    this.entered.set(key, entered);
    // The output of a join is made of what it waited for, also when it is passed over.
    if (!isHeld && step.type === 'JOIN') {
      passJoin(this.values, { join: step, entered, suffix });
      entered.state = 'skipped';
    }
    return true;
  }

  private enter(step: ModelStep, suffix: string): void {
    const key = step.taskReferenceName + suffix;
    if (this.passesOver(step, suffix)) return;
    const where = this.values.whereOf(step, suffix);
    const given = this.inputs.get(key) ?? this.values.fill(step.inputParameters ?? {}, where);
    this.inputs.delete(key);
    const input = given as Record<string, unknown>;
    const entered: Entered = { state: 'succeeded', input };
    this.entered.set(key, entered);
    switch (step.type ?? 'SIMPLE') {
      case 'FORK_JOIN_DYNAMIC':
        return this.beginBranches(step, entered, suffix);
      case 'SIMPLE':
      case 'HTTP':
      case 'DYNAMIC':
      case 'HUMAN':
        entered.state = 'running';
        return;
      case 'WAIT': {
        const ms = /^(\d+)ms$/.exec(String(input.duration))?.[1];
        Object.assign(entered, { state: 'running', until: ms ? this.now + Number(ms) : 0 });
        return;
      }
      case 'SUB_WORKFLOW': {
        const { workflowDefinition = this.definition } = step.subWorkflowParam ?? {};
        const child = this.childOf(workflowDefinition, input);
        Object.assign(entered, { state: 'running', child });
        return;
      }
      case 'CALLBACK':
        if (step.callback?.wait) entered.state = 'running';
        return;
      case 'EVENT': {
        const published = publishedBy(step, input, this.definition);
        if (step.asyncComplete) Object.assign(entered, { state: 'running', input: published });
        else entered.output = published;
        return;
      }
      case 'START_WORKFLOW':
        entered.output = { workflowId: 'r_id' };
        return;
      case 'INLINE':
      case 'JSON_JQ_TRANSFORM':
        Object.assign(entered, { state: 'running', isEvaluating: true });
        return;
      case 'DO_WHILE':
        return this.beginLoop(step, entered, where);
      case 'SWITCH':
        if (step.evaluatorType === 'javascript') {
          Object.assign(entered, { state: 'running', isEvaluating: true });
        } else entered.output = chosenBy(input[step.expression ?? ''] ?? null);
        return;
      case 'SET_VARIABLE':
        // A variable that is set again moves to the end, which its JSON text shows.
        this.values.variables = { ...without(this.variables, input), ...input };
        entered.output = this.variables;
        return;
      case 'TERMINATE':
        entered.output = input;
        this.stop(input.terminationStatus === 'COMPLETED' ? 'succeeded' : 'failed');
        if (this.outcome === 'succeeded') this.output = input.workflowOutput ?? null;
        return;
      case 'JOIN':
        return passJoin(this.values, { join: step, entered, suffix });
      case 'EXCLUSIVE_JOIN':
        return takeFirst(this.values, { join: step, entered, where });
    }
  }

  childOf(definition: ModelDefinition, input: unknown): RunModel {
    return new RunModel(definition, input, this.now, this.options);
  }

  /** Each element of the list is a branch that begins at once. */
  private beginBranches(fork: ModelStep, entered: Entered, suffix: string): void {
    const isOnly = flatten(this.definition.tasks).filter(isDynamicFork).length === 1;
    const branches = branchesOf(fork, entered.input as Record<string, unknown>, isOnly);
    if (branches === undefined) return this.fail(fork, entered);
    entered.branches = branches.map(({ step }) => step.taskReferenceName);
    for (const { step, input } of branches) {
      this.values.steps.set(step.taskReferenceName + suffix, step);
      const branch: Entered = { state: 'running', input };
      if (runsWorkflow(step))
        branch.child = this.childOf(this.options.branch ?? BRANCH_DEFINITION, input);
      this.entered.set(step.taskReferenceName + suffix, branch);
    }
  }

  private beginLoop(step: ModelStep, entered: Entered, where: Where): void {
    Object.assign(entered, { state: 'running', iteration: 1 });
    if (step.items === undefined) return;
    const items = this.values.fill(step.items, where);
    entered.items = items as readonly unknown[];
    if (!Array.isArray(items)) {
      entered.state = 'failed';
      this.stop('failed');
    } else if (items.length === 0) Object.assign(entered, { state: 'succeeded', iteration: 0 });
  }

  private finalOutput(): unknown {
    const { outputParameters: out = {}, tasks } = this.definition;
    if (Object.keys(out).length > 0) return this.values.fill(out, OUTSIDE);
    let step = tasks.at(-1) as ModelStep;
    while (step.type === 'SWITCH' && this.values.caseOf(step, '').length > 0) {
      step = this.values.caseOf(step, '').at(-1) as ModelStep;
    }
    return this.values.outputOf(step.taskReferenceName) ?? null;
  }
}
