import { setTimeout as pause } from 'node:timers/promises';

/** The part of an answer about a run that is judged. */
export interface RunAnswer {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
  readonly steps: readonly StepAnswer[];
}

interface StepAnswer {
  readonly reference: string;
  readonly state: string;
  readonly attempt: number;
  readonly taskId: string | null;
  readonly childRunId: string | null;
}

/** A run that the server acknowledged. `answer` is there once it has ended. */
export interface StartedRun {
  readonly n: number;
  readonly id: string;
  answer: RunAnswer | undefined;
}

const AGAIN_MS = 100;
const WAIT_MS = 30_000;
const HOLD_MS_MAX = 300;

/** A step that squares a number, beside one more task that takes a while. */
function square(taskReferenceName: string, n: string): object {
  const inputParameters = { n, holdMs: '${workflow.input.holdMs}' };
  return { name: 'square', taskReferenceName, inputParameters };
}

/** A step that waits for a run of one step. */
const BELOW = {
  taskReferenceName: 'below',
  type: 'SUB_WORKFLOW',
  inputParameters: { n: '${workflow.input.n}', holdMs: '${workflow.input.holdMs}' },
  subWorkflowParam: {
    name: 'below',
    workflowDefinition: { tasks: [square('inside', '${workflow.input.n}')] },
  },
};

/** One step, a fork of three branches, of which one is a run below, and one more step. */
const FORKED = {
  tasks: [
    square('first', '${workflow.input.n}'),
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN',
      forkTasks: [
        [square('left', '${first.output}')],
        [square('right', '${workflow.input.m}'), square('further', '${right.output}')],
        [BELOW],
      ],
    },
    { taskReferenceName: 'join', type: 'JOIN', joinOn: [] },
    square('last', '${workflow.input.n}'),
  ],
  outputParameters: {
    left: '${left.output}',
    further: '${join.output.further}',
    last: '${last.output}',
    below: '${below.output}',
  },
};

/** References of the steps that have a task, also of the run below. */
export const TASK_STEPS = ['first', 'left', 'right', 'further', 'last', 'inside'];

function inputOf(n: number): { n: number; m: number; holdMs: number } {
  // Spread without randomness: some tasks end immediately, some outlive a server or two.
  return { n, m: n % 50, holdMs: (n * 37) % HOLD_MS_MAX };
}

export function expectedOutput(n: number): unknown {
  const { m } = inputOf(n);
  return { left: n ** 4, further: m ** 4, last: n ** 2, below: n ** 2 };
}

/** Keeps a number of runs in flight until all of them have ended, whoever dies meanwhile. */
export class RunLoad {
  readonly runs: StartedRun[] = [];
  /** Starts and waits that broke and were repeated. */
  repeated = 0;
  ended = 0;
  private next = 0;
  private readonly url: string;
  private readonly total: number;

  constructor(url: string, total: number) {
    this.url = url;
    this.total = total;
  }

  async register(): Promise<void> {
    const body = JSON.stringify(FORKED);
    await fetch(`${this.url}/v1/workflows/forked/versions/1`, { method: 'PUT', body });
  }

  /** Resolves when every run has ended. */
  async play(atOnce: number): Promise<void> {
    await Promise.all(Array.from({ length: atOnce }, () => this.keepStarting()));
  }

  private async keepStarting(): Promise<void> {
    while (this.next < this.total) {
      const n = this.next++;
      const run: StartedRun = { n, id: await this.begin(n), answer: undefined };
      this.runs.push(run);
      run.answer = await this.end(run.id);
      this.ended += 1;
    }
  }

  /** The key makes a repeated start safe. */
  private async begin(n: number): Promise<string> {
    const start = { workflow: 'forked', input: inputOf(n), dedupeKey: `run-${n}` };
    const body = JSON.stringify(start);
    const { id } = await this.ask<{ id: string }>('/v1/runs', { method: 'POST', body });
    return id;
  }

  private async end(id: string): Promise<RunAnswer> {
    for (;;) {
      const run = await this.ask<RunAnswer>(`/v1/runs/${id}/wait?timeoutMs=${WAIT_MS}`);
      if (run.status !== 'running') return this.withStepsBelow(run);
    }
  }

  private async withStepsBelow(run: RunAnswer): Promise<RunAnswer> {
    const id = run.steps.find(({ childRunId }) => childRunId !== null)?.childRunId;
    const below = id == null ? [] : (await this.ask<RunAnswer>(`/v1/runs/${id}`)).steps;
    return { ...run, steps: [...run.steps, ...below] };
  }

  private async ask<T>(path: string, request: RequestInit = {}): Promise<T> {
    for (;;) {
      try {
        const answer = await fetch(`${this.url}${path}`, request);
        if (answer.ok) return (await answer.json()) as T;
        // A server that is starting or full says so; anything else is a problem of the test.
        if (answer.status < 429) throw new TypeError(`${path}: ${await answer.text()}`);
      } catch (cause) {
        if (cause instanceof TypeError && cause.message.startsWith(path)) throw cause;
      }
      this.repeated += 1;
      await pause(AGAIN_MS);
    }
  }
}
