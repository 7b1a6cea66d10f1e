import {
  type EvaluationRequest,
  type LeaseNumber,
  leaseTokenText,
  type Outputs,
  REASONS,
  type ReadonlyState,
  type SessionId,
  type Slot,
  signalCost,
} from '@sluice/core';
import type { OutputPort, Releasable } from '@sluice/engine';
import { runJson } from '../answers/shown-run.ts';
import { UTF8 } from '../base/utf8.ts';
import type { QueueRates } from '../queues/queue-rates.ts';
import { runSource } from '../runs/run-view.ts';
import { taskIdOf } from '../tasks/task-view.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';
import type { WorkerStream } from '../workers/worker-stream.ts';
import type { WorkerStreams } from '../workers/worker-streams.ts';

/** Called with all staged outputs, before they are durable: what it learns must wait, too (L2). */
type OutputObserver = (outputs: Outputs, state: ReadonlyState) => void;

/** Called with deliveries that became due. The function it returns runs once they are durable. */
type OwedObserver = (
  deliveries: readonly number[],
  state: ReadonlyState,
) => (() => void) | undefined;

interface OutputHooks {
  readonly observe?: OutputObserver;
  readonly owed?: OwedObserver;
  /** Called once the steps that ask are durable. */
  readonly evaluate?: (asked: readonly EvaluationRequest[]) => void;
  /** Called once the HTTP steps in these namespaces are durable. */
  readonly serve?: (namespaces: readonly string[]) => void;
}

/**
 * Sends the engine's outputs: renders them while the command runs, holds them until they are
 * durable, then writes them (L2).
 */
export class ServerOutputs implements OutputPort {
  private readonly streams: WorkerStreams;
  private readonly waiters: TaskWaiters;
  private readonly rates: QueueRates;
  private readonly hooks: OutputHooks;
  /** Notifications for waiters and the courier. */
  private told: (() => void)[] = [];
  private closing: WorkerStream[] = [];

  constructor(
    streams: WorkerStreams,
    waiters: TaskWaiters,
    rates: QueueRates,
    hooks: OutputHooks = {},
  ) {
    this.streams = streams;
    this.waiters = waiters;
    this.rates = rates;
    this.hooks = hooks;
  }

  stage(outputs: Outputs, state: ReadonlyState): void {
    this.hooks.observe?.(outputs, state);
    const { pushSessions, pushSlots } = outputs;
    for (let i = 0; i < pushSlots.length; i++) {
      const stream = this.streams.find(pushSessions[i]);
      // The stream broke in this turn. The worker gets the task when it reconnects (L7).
      if (stream === undefined) continue;
      stream.stageTask(state, pushSlots[i]);
      this.streams.markStaged(stream);
    }
    for (const { session, slot, reason, graceMs } of outputs.cancels) {
      const notice = { ...leaseOf(state, slot), graceMs, reason: REASONS[reason] };
      this.stageNotice(session, 'cancel', notice);
    }
    for (const { session, slot, name, data, key } of outputs.signals) {
      const value: unknown = data.length === 0 ? null : JSON.parse(UTF8.decode(data));
      const notice = { ...leaseOf(state, slot), name, data: value, key };
      this.stageNotice(session, 'signal', notice, signalCost({ name, data }));
    }
    for (const slot of outputs.endedSlots) this.rates.ended(state.tasks.queue[slot]);
    this.told.push(...this.waiters.stage(state, outputs.endedSlots));
    const { table } = state.runs;
    const runs = {
      numberOf: (slot: Slot) => table.number[slot],
      render: (slot: Slot) => runJson(runSource(state, slot)),
    };
    this.told.push(...this.waiters.stageEach(outputs.endedRuns, runs));
    if (outputs.deliveries.length > 0) {
      const owed = this.hooks.owed?.(outputs.deliveries, state);
      if (owed !== undefined) this.told.push(owed);
    }
    if (outputs.evaluations.length > 0) {
      const asked = [...outputs.evaluations];
      this.told.push(() => this.hooks.evaluate?.(asked));
    }
    if (outputs.httpNamespaces.length > 0) {
      const wanted = [...new Set(outputs.httpNamespaces)];
      this.told.push(() => this.hooks.serve?.(wanted));
    }
    for (const session of outputs.closedSessions) {
      this.streams.ended(session);
      const stream = this.streams.find(session);
      if (stream !== undefined) this.closing.push(stream);
    }
  }

  private stageNotice(
    session: SessionId,
    event: 'cancel' | 'signal',
    notice: object,
    cost = 0,
  ): void {
    const stream = this.streams.find(session);
    // A cancel is repeated when the worker reconnects. A signal is only for a connected worker.
    if (stream === undefined) return;
    stream.stageEvent(event, notice, cost);
    this.streams.markStaged(stream);
  }

  seal(): Releasable | undefined {
    const frames = this.streams.seal();
    const { told, closing } = this;
    if (frames.length === 0 && told.length === 0 && closing.length === 0) return undefined;
    this.told = [];
    this.closing = [];
    return {
      release: () => {
        for (const { stream, frame } of frames) stream.send(frame);
        for (const release of told) release();
        for (const stream of closing) stream.end();
      },
      drop: () => {
        for (const { stream } of frames) stream.end();
        for (const stream of closing) stream.end();
      },
    };
  }
}

function leaseOf(state: ReadonlyState, slot: Slot): { id: string; lease: string } {
  const number = state.tasks.lease[slot] as LeaseNumber;
  const lease = leaseTokenText({ partition: state.partition, slot, number });
  return { id: taskIdOf(state, slot), lease };
}
