/** The definitions of the benchmark. Every task has the type `bench`, which its workers take. */
interface Step {
  readonly taskReferenceName: string;
  readonly name?: string;
  readonly type?: string;
  readonly inputParameters?: Readonly<Record<string, unknown>>;
  readonly forkTasks?: readonly (readonly Step[])[];
  readonly joinOn?: readonly string[];
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

/** A run that does nothing for an hour. */
export const WAITING: Definition = {
  tasks: [{ taskReferenceName: 'wait', type: 'WAIT', inputParameters: { duration: '1 hours' } }],
};
