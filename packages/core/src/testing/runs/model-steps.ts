/** A definition, as the naive interpreter reads it. */
export interface ModelStep {
  readonly name?: string;
  readonly taskReferenceName: string;
  readonly type?: string;
  readonly inputParameters?: Readonly<Record<string, unknown>>;
  readonly optional?: boolean;
  readonly permissive?: boolean;
  readonly asyncComplete?: boolean;
  readonly forkTasks?: readonly (readonly ModelStep[])[];
  readonly joinOn?: readonly string[];
  readonly defaultExclusiveJoinTask?: readonly string[];
  readonly dynamicForkTasksParam?: string;
  readonly dynamicForkTasksInputParamName?: string;
  readonly dynamicTaskNameParam?: string;
  readonly sink?: string;
  readonly expression?: string;
  readonly evaluatorType?: string;
  readonly loopOver?: readonly ModelStep[];
  readonly loopCondition?: string;
  readonly items?: unknown;
  readonly callback?: { readonly url: string; readonly wait?: boolean };
  readonly subWorkflowParam?: { readonly workflowDefinition: ModelDefinition };
  readonly decisionCases?: Readonly<Record<string, readonly ModelStep[]>>;
  readonly defaultCase?: readonly ModelStep[];
}

export interface ModelDefinition {
  /** Of a definition that stands in another one. */
  readonly name?: string;
  readonly tasks: readonly ModelStep[];
  readonly outputParameters?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The steps of a body, without those of the loops in it. */
export function scopeSteps(steps: readonly ModelStep[]): ModelStep[] {
  return steps.flatMap((step) => [
    step,
    ...(step.type === 'DO_WHILE' ? [] : listsIn(step).flatMap(scopeSteps)),
  ]);
}

export function listsIn(step: ModelStep): (readonly ModelStep[])[] {
  return [
    ...(step.loopOver === undefined ? [] : [step.loopOver]),
    ...(step.forkTasks ?? []),
    ...Object.values(step.decisionCases ?? {}),
    ...(step.defaultCase === undefined ? [] : [step.defaultCase]),
  ];
}

export function flatten(steps: readonly ModelStep[]): ModelStep[] {
  return steps.flatMap((step) => [step, ...listsIn(step).flatMap(flatten)]);
}

/** The output of a SWITCH. */
export function chosenBy(value: unknown): unknown {
  const chosen = typeof value === 'string' ? value : JSON.stringify(value);
  return { evaluationResult: [chosen], selectedCase: chosen };
}

/** The output of a step whose script gave this. */
export function scriptOutput({ type }: ModelStep, value: unknown): unknown {
  if (type === 'SWITCH') return chosenBy(value);
  if (type !== 'JSON_JQ_TRANSFORM') return { result: value };
  const resultList: readonly unknown[] = Array.isArray(value) ? value : [value];
  return { result: resultList[0] ?? null, resultList };
}

/** The output of an EVENT; the interpreter knows no ids of runs. */
export function publishedBy(
  { sink = '' }: ModelStep,
  input: object,
  { name }: ModelDefinition,
): object {
  return {
    ...input,
    workflowInstanceId: 'r_id',
    workflowType: name ?? 'flow',
    workflowVersion: name === undefined ? 1 : 0,
    correlationId: null,
    event_produced: sink.slice('sluice:'.length),
  };
}

/** The iterations in the name of a step. */
export function suffixOf(key: string): string {
  const [reference] = key.split('__');
  return key.slice(reference.length);
}

/** The references of the steps that a static join waits for. */
export function membersOf({ tasks }: ModelDefinition, join: ModelStep): string[] {
  const fork = forkOf(tasks, join);
  const names = join.joinOn ?? [];
  if (names.length > 0) return [...new Set(names)];
  return (fork.forkTasks ?? []).flatMap((branch) => branch.at(-1)?.taskReferenceName ?? []);
}

/** The references of the loops around a step, outermost first. */
export function loopsAround({ tasks }: ModelDefinition, reference: string): string[] {
  const search = (steps: readonly ModelStep[], loops: string[]): string[] | undefined => {
    for (const step of steps) {
      if (step.taskReferenceName === reference) return loops;
      const isLoop = step.type === 'DO_WHILE';
      const inner = isLoop ? [...loops, step.taskReferenceName] : loops;
      for (const list of listsIn(step)) {
        const found = search(list, inner);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };
  return search(tasks, []) ?? [];
}

/** The fork in front of a join. */
export function forkOf(steps: readonly ModelStep[], join: ModelStep): ModelStep {
  const lists = [steps, ...flatten(steps).flatMap(listsIn)];
  for (const list of lists) {
    const index = list.indexOf(join);
    if (index > 0) return list[index - 1];
  }
  throw new Error(`${join.taskReferenceName} has no fork`);
}
