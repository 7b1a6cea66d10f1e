import {
  type Entered,
  type ModelEnd,
  OUTSIDE,
  STATUS,
  type Where,
  without,
} from './entered-step.ts';
import { fillTexts } from './model-expressions.ts';
import {
  chosenBy,
  flatten,
  loopsAround,
  type ModelDefinition,
  type ModelStep,
  membersOf,
  scopeSteps,
  suffixOf,
} from './model-steps.ts';

/**
 * A naive interpreter of definitions. It knows neither programs nor counters: after each outcome it
 * walks the whole definition again and asks of every step whether it may begin. Its expressions
 * work on plain objects.
 */
export class RunModel {
  /** By reference, with the iterations of the loops around it. */
  readonly entered = new Map<string, Entered>();
  variables: Record<string, unknown>;
  status: 'running' | 'paused' | 'stopping' | 'succeeded' | 'failed' | 'cancelled' = 'running';
  now = 0;
  output: unknown;
  readonly definition: ModelDefinition;
  private readonly input: unknown;
  private readonly isTold: boolean;
  private outcome: 'succeeded' | 'failed' | 'cancelled' = 'succeeded';
  private hasFailure = false;

  /** With `isTold`, a step ends with its child only when `takeChild` says so. */
  constructor(definition: ModelDefinition, input: unknown, now: number, isTold = false) {
    this.definition = definition;
    this.input = input;
    this.isTold = isTold;
    this.now = now;
    this.variables = { ...definition.variables };
    this.settle();
  }

  /** The worker of a step answered, or somebody ended the step. */
  report(key: string, succeeded: boolean, output: unknown): void {
    const step = this.find(key);
    const entered = this.entered.get(key);
    if (step === undefined || entered === undefined) throw new Error(`${key} is not running`);
    entered.isEvaluating = false;
    this.end(step, entered, { succeeded, output });
    this.settle();
  }

  private end(step: ModelStep, entered: Entered, { succeeded, output }: ModelEnd): void {
    if (this.status === 'stopping') entered.state = 'failed';
    else if (succeeded) Object.assign(entered, { state: 'succeeded', output });
    else if (step.optional) entered.state = 'completed_with_errors';
    else {
      entered.state = 'failed';
      if (step.permissive) this.hasFailure = true;
      else this.stop('failed');
    }
  }

  /** Steps end with the runs that they wait for. */
  private takeChildren(): void {
    if (this.isTold) return;
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
    this.end(this.find(key) as ModelStep, entered, { succeeded: endedAs === 'succeeded', output });
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
    const step = this.find(key) as ModelStep;
    const entered = this.entered.get(key) as Entered;
    entered.isEvaluating = false;
    if (step.type === 'DO_WHILE') this.goOn(step, entered, value === true);
    else {
      entered.state = 'succeeded';
      entered.output = step.type === 'SWITCH' ? chosenBy(value) : { result: value };
    }
    this.settle();
  }

  cancel(): void {
    if (this.status === 'running' || this.status === 'paused') this.stop('cancelled');
    this.settle();
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

  private stop(outcome: RunModel['outcome']): void {
    this.status = 'stopping';
    this.outcome = outcome;
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
        state === 'running' && (this.status === 'running' || this.find(key)?.type !== 'DO_WHILE')
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
        const isJoin = step.type === 'JOIN';
        if (isJoin && !this.isJoined(steps[index - 1], step, suffix))
          return { changed: false, over: false };
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
      return this.walk(this.caseOf(step, suffix), suffix);
    }
    if (step.type === 'FORK_JOIN') {
      for (const branch of step.forkTasks ?? []) {
        if (this.walk(branch, suffix).changed) return { changed: true, over: false };
      }
      return { changed: false, over: true };
    }
    if (step.type === 'DO_WHILE' && entered.state === 'running' && !entered.isEvaluating) {
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

  private caseOf(step: ModelStep, suffix: string): readonly ModelStep[] {
    const { output } = this.entered.get(step.taskReferenceName + suffix) as Entered;
    if (output === undefined) return step.defaultCase ?? [];
    const { selectedCase } = output as { selectedCase: string };
    return step.decisionCases?.[selectedCase] ?? step.defaultCase ?? [];
  }

  /** Whether every member of the join is over, or what it is in. */
  private isJoined(fork: ModelStep, join: ModelStep, suffix: string): boolean {
    const branches = fork.forkTasks ?? [];
    const names = join.joinOn ?? [];
    if (names.length === 0) {
      return branches.every((branch) => this.isOver(branch, branch.length, suffix));
    }
    return names.every((name) => {
      const branch = branches.find((each) =>
        flatten(each).some((s) => s.taskReferenceName === name),
      );
      const index = (branch ?? []).findIndex((each) =>
        flatten([each]).some((s) => s.taskReferenceName === name),
      );
      const isFork = branch?.[index].type === 'FORK_JOIN';
      return this.isOver(branch ?? [], index + (isFork ? 2 : 1), suffix);
    });
  }

  /** Whether the first steps of a list are over. */
  private isOver(steps: readonly ModelStep[], count: number, suffix: string): boolean {
    return steps.slice(0, count).every((step) => {
      const entered = this.entered.get(step.taskReferenceName + suffix);
      if (entered === undefined || entered.state === 'running') return false;
      if (step.type !== 'SWITCH') return true;
      const inner = this.caseOf(step, suffix);
      return this.isOver(inner, inner.length, suffix);
    });
  }

  private enter(step: ModelStep, suffix: string): void {
    const where = this.whereOf(step, suffix);
    const input = this.fill(step.inputParameters ?? {}, where) as Record<string, unknown>;
    const entered: Entered = { state: 'succeeded', input };
    this.entered.set(step.taskReferenceName + suffix, entered);
    switch (step.type ?? 'SIMPLE') {
      case 'SIMPLE':
      case 'HTTP':
      case 'HUMAN':
        entered.state = 'running';
        return;
      case 'WAIT': {
        const ms = /^(\d+)ms$/.exec(String(input.duration))?.[1];
        Object.assign(entered, { state: 'running', until: ms ? this.now + Number(ms) : 0 });
        return;
      }
      case 'SUB_WORKFLOW': {
        const { workflowDefinition } = step.subWorkflowParam as {
          workflowDefinition: ModelDefinition;
        };
        const child = new RunModel(workflowDefinition, input, this.now, this.isTold);
        Object.assign(entered, { state: 'running', child });
        return;
      }
      case 'START_WORKFLOW':
        entered.output = { workflowId: 'r_id' };
        return;
      case 'INLINE':
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
        this.variables = { ...without(this.variables, input), ...input };
        entered.output = this.variables;
        return;
      case 'TERMINATE':
        entered.output = input;
        this.stop(input.terminationStatus === 'COMPLETED' ? 'succeeded' : 'failed');
        if (this.outcome === 'succeeded') this.output = input.workflowOutput ?? null;
        return;
      case 'JOIN': {
        const members = membersOf(this.definition, step).map((name) => ({
          name,
          key: this.keyOf(name, where),
        }));
        const states = members.map(({ key }) => this.entered.get(key ?? '')?.state);
        if (states.includes('completed_with_errors')) entered.state = 'completed_with_errors';
        entered.output = Object.fromEntries(
          members.map(({ name, key }) => [name, this.outputOf(key) ?? null]),
        );
        return;
      }
    }
  }

  private beginLoop(step: ModelStep, entered: Entered, where: Where): void {
    Object.assign(entered, { state: 'running', iteration: 1 });
    if (step.items === undefined) return;
    const items = this.fill(step.items, where);
    entered.items = items as readonly unknown[];
    if (!Array.isArray(items)) {
      entered.state = 'failed';
      this.stop('failed');
    } else if (items.length === 0) Object.assign(entered, { state: 'succeeded', iteration: 0 });
  }

  /** The output of a step; that of a loop is made of its iterations. */
  private outputOf(key: string | undefined): unknown {
    const entered = this.entered.get(key ?? '');
    const step = this.find(key ?? '');
    if (entered === undefined || step?.type !== 'DO_WHILE') return entered?.output;
    const iteration = entered.iteration ?? 0;
    const output: Record<string, unknown> = { iteration };
    if (Array.isArray(entered.items) && iteration > 0) {
      Object.assign(output, { loopIndex: iteration - 1, loopItem: entered.items[iteration - 1] });
    }
    for (let n = 1; n <= iteration; n++) {
      const body = scopeSteps(step.loopOver ?? []).flatMap(({ taskReferenceName: name }) => {
        const value = this.outputOf(`${name}${suffixOf(key ?? '')}__${n}`);
        return value === undefined ? [] : [[name, value]];
      });
      output[n] = Object.fromEntries(body);
    }
    return output;
  }

  /** The loops around a step and their iterations. */
  private whereOf(step: ModelStep, suffix: string): Where {
    const loops = loopsAround(this.definition, step.taskReferenceName);
    return { loops, iterations: suffix.split('__').slice(1) };
  }

  /** The iteration in which we are for loops around us, the newest one for others. */
  private keyOf(reference: string, where: Where): string | undefined {
    let suffix = '';
    for (const [index, loop] of loopsAround(this.definition, reference).entries()) {
      const isAround = where.loops[index] === loop;
      const newest = this.entered.get(loop + suffix)?.iteration;
      if (!isAround && newest === undefined) return undefined;
      suffix += `__${isAround ? where.iterations[index] : newest}`;
    }
    return reference + suffix;
  }

  private finalOutput(): unknown {
    const { outputParameters = {}, tasks } = this.definition;
    if (Object.keys(outputParameters).length > 0) return this.fill(outputParameters, OUTSIDE);
    let step = tasks.at(-1) as ModelStep;
    while (step.type === 'SWITCH' && this.caseOf(step, '').length > 0) {
      step = this.caseOf(step, '').at(-1) as ModelStep;
    }
    return this.outputOf(step.taskReferenceName) ?? null;
  }

  private find(key: string): ModelStep | undefined {
    const [reference] = key.split('__');
    return flatten(this.definition.tasks).find((step) => step.taskReferenceName === reference);
  }

  private fill(value: unknown, where: Where): unknown {
    return fillTexts(value, (root) => this.root(root, where));
  }

  private root(name: string, where: Where): unknown {
    if (name === 'workflow') return { input: this.input, variables: this.variables };
    const key = this.keyOf(name, where);
    const entered = this.entered.get(key ?? '');
    if (entered === undefined) return undefined;
    const isOver = entered.state !== 'running';
    const status = isOver ? STATUS[entered.state] : null;
    return { ...entered, output: this.outputOf(key), status };
  }
}
