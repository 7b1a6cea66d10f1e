import type { ModelDefinition, ModelStep } from '@sluice/core/testing/runs/model-steps';
import { RandomDefinition, randomOutput } from '@sluice/core/testing/runs/random-definition';
import { SeededRandom } from '@sluice/core/testing/world/seeded-random';
import type { RandomStream } from '../kernel/random.ts';
import { RECEIVER_URLS } from '../receivers/sim-receivers.ts';
import { RETRIES, TASK_TYPES, type TaskInput, TIMEOUTS } from './draw-task.ts';

/** Many attempts take too long, so that runs stop while a worker is asked to stop one of these. */
const STEP_TIMEOUTS = [...TIMEOUTS, { runMs: 500 }, { runMs: 500 }, { runMs: 500 }];

/** Steps of a definition at most, so that runs fit into worlds with small limits. */
const STEPS_MAX = [3, 8, 14];

const TOGETHER_MS = 300;

/** Share of outputs that are blobs. */
const BLOB_RATE = 0.15;

/** Levels of runs that runs start and wait for. */
const LEVELS = 2;

/** Runs should get far, so most of their tasks succeed. */
const ENDS: readonly (readonly [weight: number, end: TaskInput['end']])[] = [
  [0.82, 'succeeded'],
  [0.06, 'failed'],
  [0.05, 'failed for good'],
  [0.03, 'retry after'],
  [0.02, 'later'],
  [0.02, 'hangs'],
];

/** What the tasks of a run do, by the references of their steps. */
type Todo = Readonly<Record<string, Omit<TaskInput, 'n'>>>;

/** The input of a run. */
interface RunInput {
  readonly n: number;
  readonly k: unknown;
  readonly todo: Todo;
}

/** A workflow that steps start and nobody waits for, and one that branches run. */
export const OTHER_WORKFLOW = 'other';
export const OTHER: ModelDefinition = { tasks: [{ taskReferenceName: 'noop', type: 'NOOP' }] };
export const BRANCH: ModelDefinition = {
  tasks: [
    {
      name: 'a',
      taskReferenceName: 'inner',
      inputParameters: {
        n: '${workflow.input.n}',
        runMs: '${workflow.input.runMs}',
        end: '${workflow.input.end}',
        gives: '${workflow.input.gives}',
        inBlob: '${workflow.input.inBlob}',
      },
    },
  ],
  outputParameters: { got: '${inner.output}' },
};

/** Three runs, one below the other. What the lowest one does decides them all. */
const NESTED = subWorkflow(
  subWorkflow({ tasks: [{ name: 'a', taskReferenceName: 'lowest', retry: { maxAttempts: 1 } }] }),
);

function subWorkflow({ tasks }: { readonly tasks: readonly object[] }): ModelDefinition {
  const reference = JSON.stringify(tasks).includes('SUB_WORKFLOW') ? 'sub1' : 'sub2';
  const workflowDefinition = { name: 'inside', tasks: tasks as readonly ModelStep[] };
  const subWorkflowParam = { name: 'inside', workflowDefinition };
  return { tasks: [{ taskReferenceName: reference, type: 'SUB_WORKFLOW', subWorkflowParam }] };
}

/** Its first step sees what its second one changes: a restart must bring the first value back. */
const COUNTED: ModelDefinition = {
  variables: { n: 'before' },
  tasks: [
    { taskReferenceName: 'sees', name: 'a', inputParameters: { seen: '${workflow.variables.n}' } },
    { taskReferenceName: 'sets', type: 'SET_VARIABLE', inputParameters: { n: 'after' } },
    { taskReferenceName: 'then', name: 'a', inputParameters: { seen: '${workflow.variables.n}' } },
  ],
};

/** Each step needs a value of the one before, which is in a blob. */
const IN_BLOBS: ModelDefinition = {
  tasks: [
    { taskReferenceName: 'one', name: 'a' },
    { taskReferenceName: 'two', name: 'a', inputParameters: { a: '${one.output.k}' } },
    { taskReferenceName: 'three', name: 'a', inputParameters: { a: '${two.output.list[0].q}' } },
  ],
  outputParameters: { last: '${three.output.k}' },
};

/** Branches in iterations: when the first step begins again, all of them are given back. */
const IN_FRAMES: ModelDefinition = {
  tasks: [
    { taskReferenceName: 's1', name: 'a' },
    {
      taskReferenceName: 'loop',
      type: 'DO_WHILE',
      inputParameters: {},
      items: [1, 2],
      loopOver: [
        {
          taskReferenceName: 'dynamic',
          type: 'FORK_JOIN_DYNAMIC',
          inputParameters: { forkTaskInputs: [1, 2], forkTaskName: 'a' },
        },
        { taskReferenceName: 'join', type: 'JOIN' },
      ],
    },
  ],
};

/** A step takes too long, and while its worker is asked to stop it, another step fails the run. */
const LATE = {
  taskReferenceName: 'late',
  name: 'a',
  timeouts: { runMs: 500 },
  retry: { maxAttempts: 2, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false },
};
const FAILS = { taskReferenceName: 'fails', name: 'a', retry: { maxAttempts: 1 } };
const OVERDUE: ModelDefinition = {
  tasks: [
    { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks: [[LATE], [FAILS]] },
    { taskReferenceName: 'join', type: 'JOIN', joinOn: [] },
  ],
};

/** A definition that is made for one kind of mistake, and an input for it. */
export function drawStory(random: RandomStream, n: number) {
  const draw = random.pick([drawNested, drawCounted, drawInBlobs, drawInFrames, drawOverdue]);
  return draw(random, n);
}

function drawOverdue(random: RandomStream, n: number) {
  const definition = { tasks: withTasks(random, OVERDUE.tasks) };
  const input = drawRunInput(random, definition, n);
  const late = { ...input.todo.late, runMs: 3000 };
  const runMs = random.integer(500, 1500);
  const fails = { ...input.todo.fails, runMs, end: 'failed for good' } as const;
  return { definition, input: { ...input, todo: { ...input.todo, late, fails } } };
}

function drawCounted(random: RandomStream, n: number) {
  const definition = { ...COUNTED, tasks: withTasks(random, COUNTED.tasks) };
  return { definition, input: quick(drawRunInput(random, definition, n), false) };
}

function drawInBlobs(random: RandomStream, n: number) {
  const definition = { ...IN_BLOBS, tasks: withTasks(random, IN_BLOBS.tasks) };
  return { definition, input: quick(drawRunInput(random, definition, n), true) };
}

function drawInFrames(random: RandomStream, n: number) {
  const definition = { tasks: withTasks(random, IN_FRAMES.tasks) };
  return { definition, input: quick(drawRunInput(random, definition, n), false) };
}

/** Tasks that are soon over and succeed. */
function quick(input: RunInput, inBlob: boolean): RunInput {
  const todo = Object.entries(input.todo).map(([reference, each]) => {
    return [reference, { ...each, runMs: 20, end: 'succeeded', inBlob }];
  });
  return { ...input, todo: Object.fromEntries(todo) as Todo };
}

/** A definition with runs below, and an input with which the lowest one mostly fails. */
function drawNested(random: RandomStream, n: number) {
  const definition = { tasks: withTasks(random, NESTED.tasks) };
  const input = drawRunInput(random, definition, n);
  const end = random.chance(0.8) ? 'failed for good' : 'succeeded';
  const lowest = { ...input.todo.lowest, runMs: 50, end } as const;
  return { definition, input: { ...input, todo: { ...input.todo, lowest } } };
}

interface DrawOptions {
  /** Whether the workflows above are registered. */
  readonly hasOthers: boolean;
  /** Whether steps may fail and the run goes on, to fail at its end. */
  readonly hasPermissive: boolean;
}

/** A random definition. Each of its tasks does what the input of its run says. */
export function drawDefinition(
  random: RandomStream,
  { hasOthers, hasPermissive: mayFail }: DrawOptions,
): ModelDefinition {
  const seeded = new SeededRandom(random.integer(0, 2 ** 31));
  const others = hasOthers ? { other: OTHER_WORKFLOW } : {};
  const options = { hasCalls: true, levels: LEVELS, ...others };
  const drawn = new RandomDefinition(seeded, random.pick(STEPS_MAX), options).draw();
  const whole = { ...drawn, tasks: withTasks(random, drawn.tasks) };
  if (!mayFail) return JSON.parse(JSON.stringify(whole, withoutPermissive)) as ModelDefinition;
  const definition = whole;
  // The naive interpreter knows one status of a step that did not succeed, and there are three.
  const hasPermissive = JSON.stringify(definition).includes('"permissive":true');
  if (!hasPermissive) return definition;
  const text = JSON.stringify(definition).replaceAll('.status}', '.output}');
  return JSON.parse(text) as ModelDefinition;
}

function withoutPermissive(name: string, value: unknown): unknown {
  return name === 'permissive' ? undefined : value;
}

export function drawRunInput(
  random: RandomStream,
  definition: ModelDefinition,
  n: number,
): RunInput {
  const seeded = new SeededRandom(random.integer(0, 2 ** 31));
  const todo = referencesIn(definition.tasks).map((reference) => [
    reference,
    {
      // Branches that end at the same time are reported together.
      runMs: random.chance(0.4) ? TOGETHER_MS : Math.round(random.logarithmic(1, 4000)),
      end: drawEnd(random),
      gives: randomOutput(seeded),
      inBlob: random.chance(BLOB_RATE),
    },
  ]);
  return { n, k: randomOutput(seeded), todo: Object.fromEntries(todo) as Todo };
}

function drawEnd(random: RandomStream): TaskInput['end'] {
  let at = random.next();
  for (const [weight, end] of ENDS) {
    at -= weight;
    if (at < 0) return end;
  }
  return 'succeeded';
}

function withTasks(random: RandomStream, steps: readonly ModelStep[]): ModelStep[] {
  return steps.map((step) => {
    const inner = withInner(step, (list) => withTasks(random, list));
    switch (step.type ?? 'SIMPLE') {
      case 'SIMPLE':
        return withTask(random, inner);
      case 'DYNAMIC': {
        const { inputParameters } = inner;
        const type = random.pick(TASK_TYPES);
        return { ...inner, inputParameters: { ...told(step), ...inputParameters, type } };
      }
      case 'HTTP':
        return { ...inner, inputParameters: { ...told(step), ...inner.inputParameters } };
      case 'CALLBACK':
        return {
          ...inner,
          callback: { url: random.pick(RECEIVER_URLS), wait: random.chance(0.4) },
        };
      case 'FORK_JOIN_DYNAMIC':
        return withBranches(random, inner);
      default:
        return inner;
    }
  });
}

/** What a task is told to do; a dynamic fork tells each of its branches. */
function told({ taskReferenceName }: ModelStep, branch = ''): Record<string, unknown> {
  const todo = `workflow.input.todo.${taskReferenceName}${branch}`;
  const names = ['runMs', 'end', 'gives', 'inBlob'] as const;
  const values = names.map((name) => [name, `\${${todo}.${name}}`]);
  return { n: '${workflow.input.n}', ...Object.fromEntries(values) };
}

/** Branches of a dynamic fork at most. */
const BRANCHES_MAX = 5;

function withBranches(random: RandomStream, fork: ModelStep): ModelStep {
  const { inputParameters: { forkTaskInputs: items, forkTaskWorkflow, tasks, inputs } = {} } = fork;
  if (items !== undefined) {
    // A number is no list, and fails the run.
    const forkTaskInputs = Array.isArray(items)
      ? items.map((item, index) => ({ ...told(fork, `_${index}`), item }))
      : '${workflow.input.n}';
    if (forkTaskWorkflow !== undefined) {
      return { ...fork, inputParameters: { forkTaskInputs, forkTaskWorkflow } };
    }
    return { ...fork, inputParameters: { forkTaskInputs, forkTaskName: random.pick(TASK_TYPES) } };
  }
  const named = (tasks as readonly ModelStep[]).map((each) => {
    return each.type === 'SUB_WORKFLOW' ? each : { ...each, name: random.pick(TASK_TYPES) };
  });
  const given = named.map(({ taskReferenceName: reference }, index) => {
    const own = (inputs as Record<string, object>)[reference];
    return [reference, { ...told(fork, `_${index}`), ...own }];
  });
  return { ...fork, inputParameters: { tasks: named, inputs: Object.fromEntries(given) } };
}

function withTask(random: RandomStream, step: ModelStep): ModelStep {
  const inputParameters = { ...told(step), ...step.inputParameters };
  const drawn = {
    ...(random.chance(0.7) ? { retry: random.pick(RETRIES) } : {}),
    ...(random.chance(0.35) ? { timeouts: random.pick(STEP_TIMEOUTS) } : {}),
    ...(random.chance(0.1) ? { startDelay: random.integer(1, 5) } : {}),
  };
  // A story says what matters to it.
  return { ...drawn, ...step, name: random.pick(TASK_TYPES), inputParameters };
}

function withInner(
  step: ModelStep,
  change: (steps: readonly ModelStep[]) => readonly ModelStep[],
): ModelStep {
  const { forkTasks, decisionCases, defaultCase, loopOver, subWorkflowParam } = step;
  const cases = Object.entries(decisionCases ?? {}).map(([name, steps]) => [name, change(steps)]);
  return {
    ...step,
    ...(forkTasks === undefined ? {} : { forkTasks: forkTasks.map(change) }),
    ...(decisionCases === undefined ? {} : { decisionCases: Object.fromEntries(cases) }),
    ...(defaultCase === undefined ? {} : { defaultCase: change(defaultCase) }),
    ...(loopOver === undefined ? {} : { loopOver: change(loopOver) }),
    ...(subWorkflowParam === undefined ? {} : withChild(step, change)),
  };
}

/** The tasks of a child do what the input of the outermost run says. */
function withChild(
  { subWorkflowParam, inputParameters }: ModelStep,
  change: (steps: readonly ModelStep[]) => readonly ModelStep[],
): Partial<ModelStep> {
  if (subWorkflowParam === undefined) return {};
  const { workflowDefinition } = subWorkflowParam;
  const tasks = change(workflowDefinition.tasks);
  const told = { n: '${workflow.input.n}', todo: '${workflow.input.todo}' };
  return {
    subWorkflowParam: { ...subWorkflowParam, workflowDefinition: { ...workflowDefinition, tasks } },
    inputParameters: { ...inputParameters, ...told },
  };
}

/** The references of all steps with a task. */
function referencesIn(steps: readonly ModelStep[]): string[] {
  return steps.flatMap((step) => {
    const lists = [
      ...(step.forkTasks ?? []),
      ...Object.values(step.decisionCases ?? {}),
      step.defaultCase ?? [],
      step.loopOver ?? [],
      step.subWorkflowParam?.workflowDefinition.tasks ?? [],
    ];
    return [...tasksOf(step), ...lists.flatMap(referencesIn)];
  });
}

function tasksOf({ type = 'SIMPLE', taskReferenceName }: ModelStep): string[] {
  if (type === 'FORK_JOIN_DYNAMIC') {
    return Array.from({ length: BRANCHES_MAX }, (_, index) => `${taskReferenceName}_${index}`);
  }
  return ['SIMPLE', 'DYNAMIC', 'HTTP'].includes(type) ? [taskReferenceName] : [];
}
