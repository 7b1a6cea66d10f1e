import {
  blobOf,
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
  mergePatch,
  NOT_MERGED,
  type TaskPatch as PatchRequest,
  patchProblems,
  TaskPatchOf,
} from '@sluice/protocol';
import { type ExecEnvelope, envelopeOf, readEnvelope } from '../base/exec-envelope.ts';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { Checker, invalid } from '../base/validation.ts';
import type { BlobHolder } from '../blobs/blob-store.ts';
import { blobsNamedIn, withBlobs } from '../blobs/named-blobs.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskArchive } from './task-archive.ts';
import { refusalOf } from './task-refusals.ts';
import { inputText, taskViewJson } from './task-view.ts';

type Rejected = NonNullable<PatchOutcome['rejection']>;
type PatchOutcome = TaskOutcome<
  'task_not_found' | 'task_running' | 'task_finished' | 'too_many_tags' | 'too_many_bytes'
>;

const NOT_VALID = 'the patch is not valid';

/** Approximate maximum number of problems in an answer. */
const PROBLEMS_MAX = 50;

interface PatcherParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly archive: Pick<TaskArchive, 'ends'>;
  readonly blobs: BlobHolder;
}

/** Changes tasks that no worker holds. */
export class TaskPatcher {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly archive: PatcherParts['archive'];
  private readonly patch = new Checker(TaskPatchOf);
  private readonly blobs: BlobHolder;
  private readonly scratch = new PayloadScratch();

  constructor({ engine, admission, archive, blobs }: PatcherParts) {
    this.archive = archive;
    this.engine = engine;
    this.admission = admission;
    this.blobs = blobs;
  }

  /** Returns the task as JSON text. */
  async one(namespace: string, id: string, request: PatchRequest): Promise<string> {
    const problems = patchProblems(request, '');
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    const patched = await this.execute(
      { namespace, requests: [{ id, ...request }], pathOf: () => '' },
      ([first], state, partition) => {
        if (first.rejection === 'task_not_found') return undefined;
        if (first.rejection !== undefined) throw refusalOf(first.rejection, id);
        return taskViewJson(state, first.slot, partition.progressOf(first.slot));
      },
    );
    if (patched !== undefined) return patched;
    const hasEnded = (await this.archive.ends(namespace, [id])).has(id);
    throw refusalOf(hasEnded ? 'task_finished' : 'task_not_found', id);
  }

  /** Patches each task completely or not at all. Returns the result of each as JSON text. */
  async many(namespace: string, body: unknown): Promise<string> {
    const requests = this.checkAll(body);
    const pathOf = (index: number) => `/${index}`;
    const outcomes = await this.execute({ namespace, requests, pathOf }, (patched, state) => {
      return patched.map(({ rejection, slot }) => {
        return { rejection, state: TASK_STATES[state.tasks.state[slot]] };
      });
    });
    const gone = requests.filter((_, place) => outcomes[place].rejection === 'task_not_found');
    const ends = await this.archive.ends(
      namespace,
      gone.map(({ id }) => id),
    );
    const items = outcomes.map(({ rejection, state }, place) => {
      const { id } = requests[place];
      if (rejection === undefined) return { id, ok: true, state };
      const isEnded = rejection === 'task_not_found' && ends.has(id);
      return { id, error: errorOf(isEnded ? 'task_finished' : rejection, id) };
    });
    return JSON.stringify({ items });
  }

  private async execute<T>(
    patches: Patches,
    render: (
      outcomes: readonly PatchOutcome[],
      state: ReadonlyState,
      partition: PartitionReader,
    ) => T,
  ): Promise<T> {
    const { namespace, requests, pathOf } = patches;
    const type = 'patch_tasks';
    this.admission.command(type);
    const named = blobsNamedIn(requests, 'inputBlob', pathOf);
    // Runs in one turn, so no other request changes an input between its read and the patch.
    const act = () =>
      this.engine.read((state) => {
        this.scratch.begin((index) => `${pathOf(index)}/input`);
        for (const { input, inputBlob } of mergedInputs(state, patches)) {
          if (inputBlob === undefined) this.scratch.add(input);
          else this.scratch.addBlob(inputBlob);
        }
        const command = {
          type,
          namespace,
          patches: requests.map(toPatch),
          inputs: this.scratch.bytes,
          inputEnds: this.scratch.ends,
        } as const;
        return this.engine.execute<PatchTasks, T>(command, ({ outcomes }, ...seen) => {
          return render(outcomes, ...seen);
        });
      });
    return withBlobs(this.blobs, namespace, named, act);
  }

  private checkAll(body: unknown): readonly TaskPatchOf[] {
    if (!Array.isArray(body) || body.length === 0 || body.length > LIMITS.batchTasksMax) {
      const problem = `must be an array of 1 to ${LIMITS.batchTasksMax} patches`;
      throw invalid(NOT_VALID, [{ path: '', problem }]);
    }
    const problems: ErrorDetail[] = [];
    body.forEach((item: unknown, index) => {
      if (problems.length >= PROBLEMS_MAX) return;
      const isRead = this.patch.accepts(item);
      const path = `/${index}`;
      problems.push(...(isRead ? patchProblems(item, path) : this.patch.problems(item, path)));
    });
    if (problems.length > 0) throw invalid(NOT_VALID, problems);
    return body;
  }
}

interface Patches {
  readonly namespace: string;
  readonly requests: readonly TaskPatchOf[];
  /** JSON pointer of each patch in the body. */
  readonly pathOf: (index: number) => string;
}

interface NewInput {
  /** Undefined when it stays, or is a blob. */
  readonly input?: unknown;
  readonly inputBlob?: string | undefined;
}

/** The new input of each task; a task may be named more than once. */
function mergedInputs(state: ReadonlyState, { namespace, requests, pathOf }: Patches): NewInput[] {
  const inputs = new Map<string, unknown>();
  return requests.map(({ id, input, inputBlob }, place) => {
    if (inputBlob !== undefined) inputs.set(id, IN_BLOB);
    if (input === undefined && inputBlob === undefined) return {};
    const slot = findTask(state, namespace, id);
    const envelope = slot === NO_SLOT ? undefined : envelopeAt(state, slot);
    const wrap = (changed: NewInput): NewInput => {
      return envelope === undefined ? changed : { input: envelopeOf(envelope.exec, changed) };
    };
    if (input === undefined) return wrap({ inputBlob });
    const before = inputs.has(id) ? inputs.get(id) : inputOf(state, slot, envelope);
    if (before === IN_BLOB && isObject(input)) {
      throw invalid(NOT_VALID, [{ path: `${pathOf(place)}/input`, problem: NOT_MERGED }]);
    }
    const merged = mergePatch(before === IN_BLOB ? null : before, input);
    inputs.set(id, merged);
    return wrap({ input: merged });
  });
}

/** Stands for an input that is a blob, whose content is not read here. */
const IN_BLOB = Symbol('the input is a blob');

function inputOf(state: ReadonlyState, slot: Slot, envelope: ExecEnvelope | undefined): unknown {
  if (envelope !== undefined) return envelope.inputBlob === undefined ? envelope.input : IN_BLOB;
  const text = slot === NO_SLOT ? '' : inputText(state, slot);
  if (blobOf(text) !== undefined) return IN_BLOB;
  return text === '' ? null : JSON.parse(text);
}

function envelopeAt(state: ReadonlyState, slot: Slot): ExecEnvelope | undefined {
  return readEnvelope(state.typeOf(slot), inputText(state, slot));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toPatch({ input, inputBlob, runAt, ...rest }: TaskPatchOf): TaskPatch {
  return {
    ...rest,
    ...(runAt === undefined
      ? {}
      : { runAt: typeof runAt === 'string' ? Date.parse(runAt) : runAt }),
    // Null is an input like any other.
    hasInput: input !== undefined || inputBlob !== undefined,
  };
}

function errorOf(rejection: Rejected, id: string): { code: string; message: string } {
  const { code, message } = refusalOf(rejection, id);
  return { code, message };
}
