import { DEFAULT_NAMESPACE, type Slot } from '@sluice/core';
import { mergePatch } from '@sluice/protocol/merge-patch';
import { NOT_MERGED } from '@sluice/protocol/task-rules';
import { SluiceError } from '../calls/sluice-error.ts';
import type { CancelOptions, WaitOptions } from '../task/task-handle.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { RetryChanges, TaskChanges } from '../task/task-options.ts';
import { hasEnded, type TaskError, type TaskView } from '../task/task-view.ts';
import { check, patchOf } from './server/checked-requests.ts';
import type { InProcessServer } from './server/in-process-server.ts';
import { encoded, inputWords } from './server/payloads.ts';
import type { TestBlobs } from './server/test-blobs.ts';

const GRACE_MS_DEFAULT = 10_000;

const namespace = DEFAULT_NAMESPACE;

export type WaitFor = (id: string, options: WaitOptions, show: () => TaskView) => Promise<TaskView>;

/** The operations of task handles, on a server in the same process. */
export class InProcessTasks implements TaskOperations {
  private readonly server: InProcessServer;
  private readonly blobs: TestBlobs;
  private readonly waitFor: WaitFor;

  constructor(server: InProcessServer, blobs: TestBlobs, waitFor: WaitFor) {
    this.server = server;
    this.blobs = blobs;
    this.waitFor = waitFor;
  }

  async get(id: string): Promise<TaskView> {
    return this.server.viewWithAttempts(this.slotOf(id));
  }

  async wait(id: string, options: WaitOptions): Promise<TaskView> {
    const slot = this.slotOf(id);
    const view = this.server.view(slot);
    return hasEnded(view) ? view : this.waitFor(id, options, () => this.server.view(slot));
  }

  async cancel(id: string, { graceMs = GRACE_MS_DEFAULT }: CancelOptions): Promise<TaskView> {
    check('CancelRequest', { graceMs });
    const command = { type: 'cancel_tasks', namespace, ids: [id], graceMs } as const;
    return this.server.execute(command, ({ outcomes }) => {
      const { rejection, slot } = outcomes[0];
      if (rejection !== undefined) throw refusal(rejection, id);
      return this.server.view(slot);
    });
  }

  async update(id: string, changes: TaskChanges): Promise<TaskView> {
    const patch = patchOf(id, changes);
    const inputs =
      patch.hasInput === true ? this.mergedInput(id, changes.input) : new Uint8Array(0);
    const command = {
      type: 'patch_tasks',
      namespace,
      patches: [patch],
      inputs,
      inputEnds: [inputs.length],
    } as const;
    return this.server.execute(command, ({ outcomes }) => {
      const { rejection, slot } = outcomes[0];
      if (rejection !== undefined) throw refusal(rejection, id);
      return this.server.view(slot);
    });
  }

  async retry(id: string, changes: RetryChanges): Promise<TaskView> {
    const { input } = changes;
    check('RetryRequest', input === undefined ? changes : { ...changes, input: null });
    const command = { type: 'retry_tasks', namespace, ids: [id] } as const;
    const changed = input === undefined ? {} : { input: this.newInput(input) };
    return this.server.execute({ ...command, ...changed }, ({ outcomes }) => {
      const { rejection, slot } = outcomes[0];
      if (rejection !== undefined) throw refusal(rejection, id);
      return this.server.view(slot);
    });
  }

  private newInput(input: unknown) {
    return { bytes: encoded(input, '/input', this.blobs), words: inputWords(input) };
  }

  /** The input after a patch, as JSON text. */
  private mergedInput(id: string, change: unknown): Uint8Array {
    const { input, inputBlob } = this.server.view(this.slotOf(id));
    const isMerged = typeof change === 'object' && change !== null && !Array.isArray(change);
    if (isMerged && inputBlob !== undefined) {
      const details = [{ path: '/input', problem: NOT_MERGED }];
      const message = `the patch is not valid (/input ${NOT_MERGED})`;
      throw new SluiceError('invalid_request', message, { status: 400, details });
    }
    const merged = isMerged ? mergePatch(input, JSON.parse(JSON.stringify(change))) : change;
    return encoded(merged, '/input', isMerged ? undefined : this.blobs);
  }

  async signal(id: string, name: string, data: unknown): Promise<void> {
    check('SignalRequest', { name });
    const command = {
      type: 'signal_task',
      namespace,
      id,
      name,
      data: encoded(data, '/data'),
    } as const;
    this.server.execute(command, ({ rejection }) => {
      if (rejection !== undefined) throw refusal(rejection, id);
    });
  }

  async complete(id: string, output: unknown): Promise<void> {
    this.end(id, 'succeeded', output);
  }

  async fail(id: string, error: TaskError): Promise<void> {
    check('FailRequest', { error });
    this.end(id, 'failed', error);
  }

  private end(id: string, outcome: 'succeeded' | 'failed', value: unknown): void {
    const payload =
      outcome === 'succeeded' ? encoded(value, '/output', this.blobs) : encoded(value, '/error');
    const command = { type: 'end_task', namespace, id, outcome, payload } as const;
    this.server.execute(command, ({ rejection }) => {
      if (rejection !== undefined) throw refusal(rejection, id);
    });
  }

  /** Throws when there is no such task. */
  slotOf(id: string): Slot {
    const slot = this.server.find(id);
    if (slot === undefined) throw refusal('task_not_found', id);
    return slot;
  }
}

export function refusal(code: string, id: string): SluiceError {
  const status = code === 'task_not_found' ? 404 : 409;
  return new SluiceError(code, `task '${id}': ${code}`, { status });
}
