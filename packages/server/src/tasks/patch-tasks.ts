import {
  findTask,
  NO_SLOT,
  type PartitionReader,
  type PatchTasks,
  type ReadonlyState,
  type Slot,
  TASK_STATES,
  type TaskOutcome,
  type TaskPatch,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type ErrorDetail,
  LIMITS,
  type TaskPatch as PatchRequest,
  TaskPatchOf,
  timeProblems,
} from '@sluice/protocol';
import type { Admission } from '../admission.ts';
import { Checker, invalid } from '../http/validation.ts';
import { PayloadScratch } from '../payload-scratch.ts';
import { mergePatch } from './merge-patch.ts';
import { refusalOf } from './task-refusals.ts';
import { inputText, taskViewJson } from './task-view.ts';

type Rejected = NonNullable<PatchOutcome['rejection']>;
type PatchOutcome = TaskOutcome<
  'task_not_found' | 'task_running' | 'task_finished' | 'too_many_tags' | 'too_many_bytes'
>;

const NOT_VALID = 'the patch is not valid';

/** Changes tasks that nobody holds. */
export class TaskPatcher {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly patch = new Checker(TaskPatchOf);
  private readonly scratch = new PayloadScratch();

  constructor(engine: Engine, admission: Admission) {
    this.engine = engine;
    this.admission = admission;
  }

  /** Answers the task as JSON text. */
  one(namespace: string, id: string, request: PatchRequest): Promise<string> {
    const problems = timeProblems(request.runAt ?? undefined, '/runAt');
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return this.execute(
      { namespace, requests: [{ id, ...request }], pathOf: () => '/input' },
      ([first], state, partition) => {
        if (first.rejection !== undefined) throw refusalOf(first.rejection, id);
        return taskViewJson(state, first.slot, partition.progressOf(first.slot));
      },
    );
  }

  /** Each is patched whole or not at all; answers what became of each as JSON text. */
  many(namespace: string, body: unknown): Promise<string> {
    const requests = this.checkAll(body);
    const pathOf = (index: number) => `/${index}/input`;
    return this.execute({ namespace, requests, pathOf }, (outcomes, state) => {
      const items = outcomes.map(({ rejection, slot }, place) => {
        const { id } = requests[place];
        if (rejection !== undefined) return { id, error: errorOf(rejection, id) };
        return { id, ok: true, state: TASK_STATES[state.tasks.state[slot]] };
      });
      return JSON.stringify({ items });
    });
  }

  private async execute(
    { namespace, requests, pathOf }: Patches,
    render: (
      outcomes: readonly PatchOutcome[],
      state: ReadonlyState,
      partition: PartitionReader,
    ) => string,
  ): Promise<string> {
    const type = 'patch_tasks';
    this.admission.command(type);
    // In one turn: nobody changes an input between the look at it and the patch.
    return this.engine.read((state) => {
      this.scratch.begin(pathOf);
      for (const input of mergedInputs(state, namespace, requests)) this.scratch.add(input);
      const command = {
        type,
        namespace,
        patches: requests.map(toPatch),
        inputs: this.scratch.bytes,
        inputEnds: this.scratch.ends,
      } as const;
      return this.engine.execute<PatchTasks, string>(command, ({ outcomes }, ...seen) => {
        return render(outcomes, ...seen);
      });
    });
  }

  private checkAll(body: unknown): readonly TaskPatchOf[] {
    if (!Array.isArray(body) || body.length === 0 || body.length > LIMITS.batchTasksMax) {
      const problem = `must be an array of 1 to ${LIMITS.batchTasksMax} patches`;
      throw invalid(NOT_VALID, [{ path: '', problem }]);
    }
    const problems: ErrorDetail[] = body.flatMap((item: unknown, index) => {
      if (!this.patch.accepts(item)) return this.patch.problems(item, `/${index}`);
      return timeProblems(item.runAt ?? undefined, `/${index}/runAt`);
    });
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return body;
  }
}

interface Patches {
  readonly namespace: string;
  readonly requests: readonly TaskPatchOf[];
  /** Where the input of each stands in the body. */
  readonly pathOf: (index: number) => string;
}

/** What the input of each task becomes; a task may be named more than once. */
function mergedInputs(
  state: ReadonlyState,
  namespace: string,
  requests: readonly TaskPatchOf[],
): unknown[] {
  const inputs = new Map<string, unknown>();
  return requests.map(({ id, input }) => {
    if (input === undefined) return undefined;
    const slot = findTask(state, namespace, id);
    const merged = mergePatch(inputs.has(id) ? inputs.get(id) : inputOf(state, slot), input);
    inputs.set(id, merged);
    return merged;
  });
}

function inputOf(state: ReadonlyState, slot: Slot): unknown {
  const text = slot === NO_SLOT ? '' : inputText(state, slot);
  return text === '' ? null : JSON.parse(text);
}

function toPatch({ input, runAt, ...rest }: TaskPatchOf): TaskPatch {
  return {
    ...rest,
    ...(runAt === undefined
      ? {}
      : { runAt: typeof runAt === 'string' ? Date.parse(runAt) : runAt }),
    // Null is an input like any other.
    hasInput: input !== undefined,
  };
}

function errorOf(rejection: Rejected, id: string): { code: string; message: string } {
  const { code, message } = refusalOf(rejection, id);
  return { code, message };
}
