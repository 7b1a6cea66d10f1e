/**
 * A naive interpreter of definitions. It knows neither programs nor counters: after each outcome it
 * walks the whole definition again and asks of every step whether it may begin. Its expressions
 * work on plain objects.
 */
export interface ModelStep {
  readonly name?: string;
  readonly taskReferenceName: string;
  readonly type?: string;
  readonly inputParameters?: Readonly<Record<string, unknown>>;
  readonly optional?: boolean;
  readonly permissive?: boolean;
  readonly forkTasks?: readonly (readonly ModelStep[])[];
  readonly joinOn?: readonly string[];
  readonly expression?: string;
  readonly decisionCases?: Readonly<Record<string, readonly ModelStep[]>>;
  readonly defaultCase?: readonly ModelStep[];
}

export interface ModelDefinition {
  readonly tasks: readonly ModelStep[];
  readonly outputParameters?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

type StepState = 'pending' | 'running' | 'succeeded' | 'completed_with_errors' | 'failed';

interface Entered {
  state: StepState;
  input?: unknown;
  output?: unknown;
}

const STATUS: Readonly<Record<string, string>> = {
  succeeded: 'COMPLETED',
  completed_with_errors: 'COMPLETED_WITH_ERRORS',
  failed: 'FAILED',
};

export class RunModel {
  readonly entered = new Map<string, Entered>();
  variables: Record<string, unknown>;
  status: 'running' | 'stopping' | 'succeeded' | 'failed' | 'cancelled' = 'running';
  output: unknown;
  private readonly definition: ModelDefinition;
  private readonly input: unknown;
  private outcome: 'succeeded' | 'failed' | 'cancelled' = 'succeeded';
  private hasFailure = false;

  constructor(definition: ModelDefinition, input: unknown) {
    this.definition = definition;
    this.input = input;
    this.variables = { ...definition.variables };
    this.settle();
  }

  /** The worker of a step answered. */
  report(reference: string, succeeded: boolean, output: unknown): void {
    const step = this.find(reference);
    const entered = this.entered.get(reference);
    if (step === undefined || entered === undefined) throw new Error(`${reference} is not running`);
    if (this.status === 'stopping') entered.state = 'failed';
    else if (succeeded) Object.assign(entered, { state: 'succeeded', output });
    else if (step.optional) entered.state = 'completed_with_errors';
    else {
      entered.state = 'failed';
      if (step.permissive) this.hasFailure = true;
      else this.stop('failed');
    }
    this.settle();
  }

  cancel(): void {
    if (this.status === 'running') this.stop('cancelled');
    this.settle();
  }

  private stop(outcome: RunModel['outcome']): void {
    this.status = 'stopping';
    this.outcome = outcome;
  }

  /** Begins everything that may begin, until nothing changes. */
  private settle(): void {
    while (this.status === 'running' && this.walk(this.definition.tasks).changed);
    const isBusy = [...this.entered.values()].some(({ state }) => state === 'running');
    if (isBusy || (this.status !== 'running' && this.status !== 'stopping')) return;
    if (this.status === 'running') {
      this.outcome = this.hasFailure ? 'failed' : 'succeeded';
      if (!this.hasFailure) this.output = this.finalOutput();
    }
    this.status = this.outcome;
  }

  /** Walks a list of steps. Each step begins when the one before it is over. */
  private walk(steps: readonly ModelStep[]): { changed: boolean; over: boolean } {
    for (const [index, step] of steps.entries()) {
      if (!this.entered.has(step.taskReferenceName)) {
        const isJoin = step.type === 'JOIN';
        if (isJoin && !this.isJoined(steps[index - 1], step))
          return { changed: false, over: false };
        this.enter(step);
        return { changed: true, over: false };
      }
      if (this.status !== 'running') return { changed: false, over: false };
      const inner = this.walkInside(step);
      if (inner.changed) return inner;
      if (!inner.over) return inner;
    }
    return { changed: false, over: true };
  }

  private walkInside(step: ModelStep): { changed: boolean; over: boolean } {
    if (step.type === 'SWITCH') return this.walk(this.caseOf(step));
    if (step.type === 'FORK_JOIN') {
      for (const branch of step.forkTasks ?? []) {
        if (this.walk(branch).changed) return { changed: true, over: false };
      }
      return { changed: false, over: true };
    }
    const { state } = this.entered.get(step.taskReferenceName) as Entered;
    return { changed: false, over: state !== 'running' };
  }

  private caseOf(step: ModelStep): readonly ModelStep[] {
    const { output } = this.entered.get(step.taskReferenceName) as Entered;
    const { selectedCase } = output as { selectedCase: string };
    return step.decisionCases?.[selectedCase] ?? step.defaultCase ?? [];
  }

  /** Whether every member of the join is over, or what it is in. */
  private isJoined(fork: ModelStep, join: ModelStep): boolean {
    const branches = fork.forkTasks ?? [];
    const names = join.joinOn ?? [];
    if (names.length === 0) return branches.every((branch) => this.isOver(branch, branch.length));
    return names.every((name) => {
      const branch = branches.find((each) =>
        flatten(each).some((s) => s.taskReferenceName === name),
      );
      const index = (branch ?? []).findIndex((each) =>
        flatten([each]).some((s) => s.taskReferenceName === name),
      );
      const isFork = branch?.[index].type === 'FORK_JOIN';
      return this.isOver(branch ?? [], index + (isFork ? 2 : 1));
    });
  }

  /** Whether the first steps of a list are over. */
  private isOver(steps: readonly ModelStep[], count: number): boolean {
    return steps.slice(0, count).every((step) => {
      const entered = this.entered.get(step.taskReferenceName);
      if (entered === undefined || entered.state === 'running') return false;
      if (step.type !== 'SWITCH') return true;
      const inner = this.caseOf(step);
      return this.isOver(inner, inner.length);
    });
  }

  private enter(step: ModelStep): void {
    const input = this.fill(step.inputParameters ?? {}) as Record<string, unknown>;
    const entered: Entered = { state: 'succeeded', input };
    this.entered.set(step.taskReferenceName, entered);
    switch (step.type ?? 'SIMPLE') {
      case 'SIMPLE':
        entered.state = 'running';
        return;
      case 'SWITCH': {
        const value = input[step.expression ?? ''] ?? null;
        const chosen = typeof value === 'string' ? value : JSON.stringify(value);
        entered.output = { evaluationResult: [chosen], selectedCase: chosen };
        return;
      }
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
        const members = this.membersOf(step);
        const states = members.map((name) => this.entered.get(name)?.state);
        if (states.includes('completed_with_errors')) entered.state = 'completed_with_errors';
        entered.output = Object.fromEntries(
          members.map((name) => [name, this.entered.get(name)?.output ?? null]),
        );
        return;
      }
    }
  }

  private membersOf(join: ModelStep): string[] {
    const fork = this.forkOf(this.definition.tasks, join);
    const names = join.joinOn ?? [];
    if (names.length > 0) return [...new Set(names)];
    return (fork.forkTasks ?? []).flatMap((branch) => branch.at(-1)?.taskReferenceName ?? []);
  }

  private forkOf(steps: readonly ModelStep[], join: ModelStep): ModelStep {
    const lists = [steps, ...flatten(steps).flatMap(listsIn)];
    for (const list of lists) {
      const index = list.indexOf(join);
      if (index > 0) return list[index - 1];
    }
    throw new Error(`${join.taskReferenceName} has no fork`);
  }

  private finalOutput(): unknown {
    const { outputParameters = {}, tasks } = this.definition;
    if (Object.keys(outputParameters).length > 0) return this.fill(outputParameters);
    let step = tasks.at(-1) as ModelStep;
    while (step.type === 'SWITCH' && this.caseOf(step).length > 0) {
      step = this.caseOf(step).at(-1) as ModelStep;
    }
    return this.entered.get(step.taskReferenceName)?.output ?? null;
  }

  private find(reference: string): ModelStep | undefined {
    return flatten(this.definition.tasks).find((step) => step.taskReferenceName === reference);
  }

  private fill(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.fill(each));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, this.fill(each)]),
      );
    }
    if (typeof value !== 'string') return value;
    const whole = /^\$\{([^}]*)\}$/.exec(value);
    if (whole !== null) return this.look(whole[1]);
    return value.replaceAll(/\$\{([^}]*)\}/g, (_, path: string) => {
      const found = this.look(path);
      return typeof found === 'string' ? found : JSON.stringify(found);
    });
  }

  /** Looks a path up in plain objects; null when it leads nowhere. */
  private look(source: string): unknown {
    const isLength = source.endsWith('.length()');
    const [root = '', ...path] = source.replace('.length()', '').match(/[^.[\]]+/g) ?? [];
    let found = this.root(root);
    for (const [place, name] of path.entries()) {
      if (name === '*') {
        const rest = path.slice(place + 1);
        const each = Array.isArray(found) ? found : [];
        found = each.flatMap((element) => {
          const inner = rest.reduce<unknown>((at, key) => member(at, key), element);
          return inner === undefined ? [] : [inner];
        });
        break;
      }
      found = member(found, name);
    }
    if (isLength) return Array.isArray(found) ? found.length : null;
    return found ?? null;
  }

  private root(name: string): unknown {
    if (name === 'workflow') return { input: this.input, variables: this.variables };
    const entered = this.entered.get(name);
    if (entered === undefined) return undefined;
    const isOver = entered.state !== 'running';
    return { ...entered, status: isOver ? STATUS[entered.state] : null };
  }
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(name) ? value.at(Number(name)) : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function without(values: object, others: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !(name in others)));
}

function listsIn(step: ModelStep): (readonly ModelStep[])[] {
  return [
    ...(step.forkTasks ?? []),
    ...Object.values(step.decisionCases ?? {}),
    ...(step.defaultCase === undefined ? [] : [step.defaultCase]),
  ];
}

function flatten(steps: readonly ModelStep[]): ModelStep[] {
  return steps.flatMap((step) => [step, ...listsIn(step).flatMap(flatten)]);
}
