import {
  type Author,
  blobReference,
  type CancelTasks,
  type EndTask,
  type Explanation,
  findTask,
  isTerminal,
  NO_SLOT,
  type PartitionReader,
  type PauseTask,
  type ReadmitTask,
  type ReadonlyState,
  type ResumeTask,
  type RetryTasks,
  type SignalTask,
  type Slot,
  SUCCEEDED,
  TASK_STATES,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import {
  type CancelRequest,
  type CompleteRequest,
  type FailRequest,
  LIMITS,
  type RetryRequest,
  type SignalRequest,
  SluiceError,
} from '@sluice/protocol';
import { keyNumber } from '../base/key-number.ts';
import { PayloadScratch } from '../base/payload-scratch.ts';
import { timeText } from '../base/time-text.ts';
import { invalid } from '../base/validation.ts';
import type { BlobHolder } from '../blobs/blob-store.ts';
import { blobsNamedIn, withBlobs } from '../blobs/named-blobs.ts';
import { inputWords } from '../dedupe/dedupe-hashes.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskEnd } from '../projection/projection-messages.ts';
import { taskNotFound } from './read-task.ts';
import type { TaskArchive } from './task-archive.ts';
import { refusalOf, retryRefusal } from './task-refusals.ts';
import { taskViewJson } from './task-view.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly archive: Pick<TaskArchive, 'one' | 'ends' | 'readmission'>;
  readonly blobs: BlobHolder;
}

/** The task after an operation, as JSON text. */
export interface Operated {
  /** Whether the task has ended. A task that a worker holds may still end later. */
  readonly hasEnded: boolean;
  readonly json: string;
}

/** Operations of clients and operators on one task. Each returns once it is durable. */
export class TaskOperations {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly archive: Parts['archive'];
  private readonly blobs: BlobHolder;
  private readonly scratch = new PayloadScratch();

  constructor({ engine, admission, archive, blobs }: Parts) {
    this.blobs = blobs;
    this.engine = engine;
    this.admission = admission;
    this.archive = archive;
  }

  async cancel(
    namespace: string,
    id: string,
    { graceMs = LIMITS.graceMsDefault }: CancelRequest,
  ): Promise<Operated> {
    const type = 'cancel_tasks';
    this.admission.command(type);
    const command = { type, namespace, ids: [id], graceMs } as const;
    const inMemory = () =>
      this.engine.execute<CancelTasks, Operated>(command, ({ outcomes: [first] }, ...seen) => {
        if (first.rejection !== undefined) throw refusalOf(first.rejection, id);
        return operated(first.slot, ...seen);
      });
    return this.unlessGone(namespace, id, inMemory, async ({ state }) => {
      if (TASK_STATES[state] !== 'cancelled') throw refusalOf('task_finished', id);
      return { hasEnded: true, json: await this.archive.one(namespace, id) };
    });
  }

  /** The author is recorded if the request changes the input. */
  retry(namespace: string, id: string, request: RetryRequest, by: Author): Promise<Operated> {
    const { input, inputBlob } = request;
    refuseBoth(request, 'input', 'inputBlob');
    const named = blobsNamedIn([request], 'inputBlob', () => '');
    return withBlobs(this.blobs, namespace, named, async () => {
      if (input === undefined && inputBlob === undefined) return this.runAgain(namespace, id);
      await this.refuseExec(namespace, id);
      // A copy, because other requests use the scratch before the last step of this one.
      const bytes = Buffer.from(this.payloadOf(input, inputBlob, '/input'));
      return this.runAgain(namespace, id, { input: { bytes, words: inputWords(request) }, by });
    });
  }

  /** What a command runs is stored with its input, so the input cannot be replaced alone. */
  private async refuseExec(namespace: string, id: string): Promise<void> {
    const { exec } = JSON.parse(await this.archive.one(namespace, id)) as { exec?: unknown };
    if (exec === undefined) return;
    const problem = 'cannot replace the input of a task with exec; submit a new task';
    throw invalid('the body is not valid', [{ path: '/input', problem }]);
  }

  private async runAgain(namespace: string, id: string, change?: InputChange): Promise<Operated> {
    const first = await this.retryInMemory(namespace, id, change);
    const done = first ?? (await this.readmit(namespace, id, change));
    if (done !== undefined) return done;
    // Another request ran it again meanwhile.
    const again = await this.retryInMemory(namespace, id, change);
    if (again === undefined) throw taskNotFound(id);
    return again;
  }

  /** Undefined when the task is not in memory. */
  private retryInMemory(
    namespace: string,
    id: string,
    change: InputChange | undefined,
  ): Promise<Operated | undefined> {
    const type = 'retry_tasks';
    this.admission.command(type);
    const command = { type, namespace, ids: [id], ...change } as const;
    return this.engine.execute<RetryTasks, Operated | undefined>(
      command,
      ({ outcomes: [{ rejection, slot, quota }] }, state, ...seen) => {
        if (rejection === 'task_not_found') return undefined;
        if (rejection !== undefined) throw retryRefusal(id, { rejection, quota }, state);
        return operated(slot, state, ...seen);
      },
    );
  }

  /**
   * Runs `inMemory`. If the task has left memory, it has ended, and `whenEnded` decides. So the
   * caller sees no difference between a task in memory and one in the projection.
   */
  private async unlessGone<T>(
    namespace: string,
    id: string,
    inMemory: () => Promise<T>,
    whenEnded: (end: TaskEnd) => T | Promise<T>,
  ): Promise<T> {
    const isGone = (cause: unknown) => {
      return cause instanceof SluiceError && cause.code === 'task_not_found';
    };
    try {
      return await inMemory();
    } catch (cause) {
      if (!isGone(cause)) throw cause;
      const end = (await this.archive.ends(namespace, [id])).get(id);
      if (end === undefined) throw cause;
      if (isTerminal(end.state)) return whenEnded(end);
      // The task was run again since it was looked up.
      return inMemory();
    }
  }

  /** Runs a task again that has left memory; undefined when it is in memory again. */
  private async readmit(
    namespace: string,
    id: string,
    change: InputChange | undefined,
  ): Promise<Operated | undefined> {
    const known = await this.archive.readmission(namespace, id);
    if (known === undefined) throw taskNotFound(id);
    const { state, spec } = known;
    if (known.isOfRun && state !== SUCCEEDED) throw refusalOf('task_of_run', id);
    const input = change?.input.bytes ?? Buffer.from(known.input);
    const changed = change === undefined ? {} : { changedWords: change.input.words, by: change.by };
    const type = 'readmit_task';
    this.admission.command(type);
    const command = { type, namespace, id, state, spec, input, ...changed } as const;
    return this.engine.execute<ReadmitTask, Operated | undefined>(
      command,
      ({ rejection, slot, quota }, state, ...seen) => {
        if (rejection === 'task_not_found') return undefined;
        if (rejection !== undefined) throw retryRefusal(id, { rejection, quota }, state);
        return operated(slot, state, ...seen);
      },
    );
  }

  hold(type: 'pause_task' | 'resume_task', namespace: string, id: string): Promise<Operated> {
    this.admission.command(type);
    const command = { type, namespace, id } as const;
    const inMemory = () =>
      this.engine.execute<PauseTask | ResumeTask, Operated>(
        command,
        ({ rejection, slot }, ...seen) => {
          if (rejection !== undefined) throw refusalOf(rejection, id);
          return operated(slot, ...seen);
        },
      );
    return this.unlessGone(namespace, id, inMemory, refuseEnded(id));
  }

  /** A signal to the worker that holds the task; it is not stored. */
  signal(namespace: string, id: string, { name, data, key }: SignalRequest): Promise<void> {
    const type = 'signal_task';
    this.admission.command(type);
    const inMemory = () => {
      const bytes = this.bytesOf(data, '/data');
      const command = { type, namespace, id, name, data: bytes, key } as const;
      return this.engine.execute<SignalTask, void>(command, ({ rejection }) => {
        if (rejection !== undefined) throw refusalOf(rejection, id);
      });
    };
    return this.unlessGone(namespace, id, inMemory, () => {
      throw refusalOf('task_not_leased', id);
    });
  }

  complete(namespace: string, id: string, request: CompleteRequest): Promise<Operated> {
    const { output, outputBlob, key } = request;
    refuseBoth(request, 'output', 'outputBlob');
    const named = blobsNamedIn([request], 'outputBlob', () => '');
    return withBlobs(this.blobs, namespace, named, () => {
      const payload = () => this.payloadOf(output, outputBlob, '/output');
      return this.end(namespace, id, { outcome: 'succeeded', payload, key: keyNumber(key) });
    });
  }

  fail(namespace: string, id: string, { error, key }: FailRequest): Promise<Operated> {
    const payload = () => this.bytesOf(error, '/error');
    return this.end(namespace, id, { outcome: 'failed', payload, key: keyNumber(key) });
  }

  private end(namespace: string, id: string, { outcome, payload, key }: Ending): Promise<Operated> {
    const type = 'end_task';
    this.admission.command(type);
    const inMemory = () => {
      const command = { type, namespace, id, outcome, payload: payload(), key } as const;
      return this.engine.execute<EndTask, Operated>(command, ({ rejection, slot }, ...seen) => {
        if (rejection !== undefined) throw refusalOf(rejection, id);
        return operated(slot, ...seen);
      });
    };
    return this.unlessGone(namespace, id, inMemory, refuseEnded(id));
  }

  /** Why the task is not running. */
  explain(namespace: string, id: string): Promise<Explanation> {
    this.admission.read();
    const inMemory = () =>
      this.engine.read((state, partition) => {
        const slot = findTask(state, namespace, id);
        if (slot === NO_SLOT) throw taskNotFound(id);
        return partition.explain(slot);
      });
    return this.unlessGone(namespace, id, inMemory, ({ state, endedAt }): Explanation => {
      const message = `ended at ${timeText(endedAt)}: ${TASK_STATES[state]}`;
      return { running: false, reasons: [{ code: 'finished', message }], workersNotShown: 0 };
    });
  }

  /** Valid until the next call. */
  private payloadOf(value: unknown, blob: string | undefined, path: string): Uint8Array {
    return blob === undefined ? this.bytesOf(value, path) : Buffer.from(blobReference(blob));
  }

  /** Valid until the next call. */
  private bytesOf(value: unknown, path: string): Uint8Array {
    this.scratch.begin(() => path);
    this.scratch.add(value);
    return this.scratch.bytes.subarray(0, this.scratch.ends[0]);
  }
}

/** Another input for a task that is retried, and who gives it. */
type InputChange = Required<Pick<RetryTasks, 'input' | 'by'>>;

function refuseBoth<K extends string>(
  request: { readonly [Name in K]?: unknown },
  value: K,
  blob: K,
): void {
  if (request[value] === undefined || request[blob] === undefined) return;
  const problem = `cannot be combined with ${value}`;
  throw invalid('the body is not valid', [{ path: `/${blob}`, problem }]);
}

function refuseEnded(id: string): () => never {
  return () => {
    throw refusalOf('task_finished', id);
  };
}

/** The end of a task by an outside call. */
interface Ending extends Pick<EndTask, 'outcome'> {
  readonly key: number;
  readonly payload: () => Uint8Array;
}

function operated(slot: Slot, state: ReadonlyState, partition: PartitionReader): Operated {
  return {
    hasEnded: isTerminal(state.tasks.state[slot]),
    json: taskViewJson(state, slot, partition.progressOf(slot)),
  };
}
