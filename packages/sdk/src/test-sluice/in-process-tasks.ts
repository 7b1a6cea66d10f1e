import { DEFAULT_NAMESPACE, type Slot } from '@sluice/core';
import { SluiceError } from '../sluice-error.ts';
import type { CancelOptions, TaskOperations, WaitOptions } from '../task-handle.ts';
import { hasEnded, type TaskError, type TaskView } from '../task-view.ts';
import { check } from './checked-requests.ts';
import type { InProcessServer } from './in-process-server.ts';
import { encoded } from './payloads.ts';
import type { TestBlobs } from './test-blobs.ts';

const GRACE_MS_DEFAULT = 10_000;

const namespace = DEFAULT_NAMESPACE;

export type WaitFor = (id: string, options: WaitOptions) => Promise<TaskView>;

/** What handles do, on a server in the same process. */
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
    return this.server.view(this.slotOf(id));
  }

  async wait(id: string, options: WaitOptions): Promise<TaskView> {
    const view = this.server.view(this.slotOf(id));
    return hasEnded(view) ? view : this.waitFor(id, options);
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

  private slotOf(id: string): Slot {
    const slot = this.server.find(id);
    if (slot === undefined) throw refusal('task_not_found', id);
    return slot;
  }
}

function refusal(code: string, id: string): SluiceError {
  const status = code === 'task_not_found' ? 404 : 409;
  return new SluiceError(code, `task '${id}': ${code}`, { status });
}
