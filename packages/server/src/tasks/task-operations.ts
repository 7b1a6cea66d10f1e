import {
  type CancelTasks,
  DEFAULT_NAMESPACE,
  type EndTask,
  type Explanation,
  findTask,
  isTerminal,
  NO_SLOT,
  type PartitionReader,
  type PauseTask,
  type ReadonlyState,
  type ResumeTask,
  type RetryTasks,
  type SignalTask,
  type Slot,
} from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { type CancelRequest, LIMITS } from '@sluice/protocol';
import type { Admission } from '../admission.ts';
import { PayloadScratch } from '../payload-scratch.ts';
import { taskNotFound } from './read-task.ts';
import { refusalOf } from './task-refusals.ts';
import { taskViewJson } from './task-view.ts';

interface Parts {
  readonly engine: Engine;
  readonly admission: Admission;
}

/** The task after an operation, as JSON text. */
export interface Operated {
  /** Whether the task has ended; one that a worker holds may still be about to. */
  readonly hasEnded: boolean;
  readonly json: string;
}

const namespace = DEFAULT_NAMESPACE;

/** What clients and operators do to one task. Each answers once it is durable. */
export class TaskOperations {
  private readonly engine: Engine;
  private readonly admission: Admission;
  private readonly scratch = new PayloadScratch();

  constructor({ engine, admission }: Parts) {
    this.engine = engine;
    this.admission = admission;
  }

  cancel(id: string, { graceMs = LIMITS.graceMsDefault }: CancelRequest): Promise<Operated> {
    const type = 'cancel_tasks';
    this.admission.command(type);
    const command = { type, namespace, ids: [id], graceMs } as const;
    return this.engine.execute<CancelTasks, Operated>(command, ({ outcomes: [first] }, ...seen) => {
      if (first.rejection !== undefined) throw refusalOf(first.rejection, id);
      return operated(first.slot, ...seen);
    });
  }

  retry(id: string): Promise<Operated> {
    const type = 'retry_tasks';
    this.admission.command(type);
    const command = { type, namespace, ids: [id] } as const;
    return this.engine.execute<RetryTasks, Operated>(command, ({ outcomes: [first] }, ...seen) => {
      if (first.rejection !== undefined) throw refusalOf(first.rejection, id);
      return operated(first.slot, ...seen);
    });
  }

  hold(type: 'pause_task' | 'resume_task', id: string): Promise<Operated> {
    this.admission.command(type);
    const command = { type, namespace, id } as const;
    return this.engine.execute<PauseTask | ResumeTask, Operated>(
      command,
      ({ rejection, slot }, ...seen) => {
        if (rejection !== undefined) throw refusalOf(rejection, id);
        return operated(slot, ...seen);
      },
    );
  }

  /** A word to whoever holds the task; it is not kept. */
  signal(id: string, name: string, data: unknown): Promise<void> {
    const type = 'signal_task';
    this.admission.command(type);
    const command = { type, namespace, id, name, data: this.bytesOf(data, '/data') } as const;
    return this.engine.execute<SignalTask, void>(command, ({ rejection }) => {
      if (rejection !== undefined) throw refusalOf(rejection, id);
    });
  }

  end(id: string, outcome: EndTask['outcome'], result: unknown): Promise<Operated> {
    const type = 'end_task';
    this.admission.command(type);
    const payload = this.bytesOf(result, outcome === 'succeeded' ? '/output' : '/error');
    const command = { type, namespace, id, outcome, payload } as const;
    return this.engine.execute<EndTask, Operated>(command, ({ rejection, slot }, ...seen) => {
      if (rejection !== undefined) throw refusalOf(rejection, id);
      return operated(slot, ...seen);
    });
  }

  /** Why the task is not running. */
  explain(id: string): Promise<Explanation> {
    this.admission.read();
    return this.engine.read((state, partition) => {
      const slot = findTask(state, namespace, id);
      if (slot === NO_SLOT) throw taskNotFound(id);
      return partition.explain(slot);
    });
  }

  /** Valid until the next call. */
  private bytesOf(value: unknown, path: string): Uint8Array {
    this.scratch.begin(() => path);
    this.scratch.add(value);
    return this.scratch.bytes.subarray(0, this.scratch.ends[0]);
  }
}

function operated(slot: Slot, state: ReadonlyState, partition: PartitionReader): Operated {
  return {
    hasEnded: isTerminal(state.tasks.state[slot]),
    json: taskViewJson(state, slot, partition.progressOf(slot)),
  };
}
