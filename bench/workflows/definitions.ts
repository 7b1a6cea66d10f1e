/** The definitions of the benchmark. Every task has the type `bench`, which its workers take. */
interface Step {
  readonly taskReferenceName: string;
  readonly name?: string;
  readonly type?: string;
  readonly inputParameters?: Readonly<Record<string, unknown>>;
  readonly forkTasks?: readonly (readonly Step[])[];
  readonly joinOn?: readonly string[];
  readonly dynamicForkTasksParam?: string;
  readonly dynamicForkTasksInputParamName?: string;
}

export interface Definition {
  readonly tasks: readonly Step[];
}

/** The name under which a server knows the definition of a row. */
export const WORKFLOW = 'bench';

/** What workers of `bench` expect of an input: the time at which the work began. */
export const RUN_INPUT = { at: 0 };

function step(taskReferenceName: string): Step {
  const inputParameters = { at: '${workflow.input.at}' };
  return { taskReferenceName, name: 'bench', inputParameters };
}

/** Steps one after the other. */
export function sequence(steps: number): Definition {
  return { tasks: Array.from({ length: steps }, (_, place) => step(`step${place}`)) };
}

/** Steps side by side, and a join. */
export function fork(branches: number): Definition {
  const forkTasks = Array.from({ length: branches }, (_, place) => [step(`branch${place}`)]);
  return {
    tasks: [
      { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks },
      { taskReferenceName: 'join', type: 'JOIN', joinOn: [] },
    ],
  };
}

/** A task for each element of a list, and a join. */
export function dynamicFork(branches: number): Definition {
  const forkTaskInputs = Array(branches).fill(RUN_INPUT);
  const inputParameters = { forkTaskName: 'bench', forkTaskInputs };
  return {
    tasks: [
      { taskReferenceName: 'fork', type: 'FORK_JOIN_DYNAMIC', inputParameters },
      { taskReferenceName: 'join', type: 'JOIN', joinOn: [] },
    ],
  };
}

const JOIN: Step = { taskReferenceName: 'join', type: 'JOIN', joinOn: [] };

function forkOfItems(name: string, items: string): Step {
  const inputParameters = { forkTaskName: 'bench', forkTaskInputs: items };
  return { taskReferenceName: name, type: 'FORK_JOIN_DYNAMIC', inputParameters };
}

/** A task for each element of a list in the input, and a join. */
export const FORK_OF_ITEMS: Definition = {
  tasks: [forkOfItems('fork', '${workflow.input.items}'), JOIN],
};

/** The same for a list that says what each branch is, with the inputs apart. */
export const FORK_OF_TASKS: Definition = {
  tasks: [
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN_DYNAMIC',
      dynamicForkTasksParam: 'tasks',
      dynamicForkTasksInputParamName: 'inputs',
      inputParameters: { tasks: '${workflow.input.tasks}', inputs: '${workflow.input.inputs}' },
    },
    JOIN,
  ],
};

/** Forks side by side, each over a list in the input. */
export function forksOfItems(count: number): Definition {
  const forkTasks = Array.from({ length: count }, (_, n) => [
    forkOfItems(`fork${n}`, `\${workflow.input.items${n}}`),
    { ...JOIN, taskReferenceName: `join${n}` },
  ]);
  return { tasks: [{ taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks }, JOIN] };
}

/** Steps that end at once, half of them with an expression. */
export function immediateSteps(count: number): Definition {
  const tasks = Array.from({ length: count }, (_, n): Step => {
    if (n % 2 === 1) return { taskReferenceName: `step${n}`, type: 'NOOP' };
    const inputParameters = { [`v${n % 20}`]: '${workflow.input.at}' };
    return { taskReferenceName: `step${n}`, type: 'SET_VARIABLE', inputParameters };
  });
  return { tasks };
}

/** A run that does nothing for an hour. */
export const WAITING: Definition = {
  tasks: [{ taskReferenceName: 'wait', type: 'WAIT', inputParameters: { duration: '1 hours' } }],
};
