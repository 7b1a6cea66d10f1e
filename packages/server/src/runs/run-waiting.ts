import { findRun, isRunOver, NO_SLOT, type TaskNumber } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { KeyStreams } from '../access/key-streams.ts';
import type { Admission } from '../limits/admission.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';
import { endSignal } from '../tasks/task-waiting.ts';
import type { RunArchive } from './run-archive.ts';

interface WaitingParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly waiters: TaskWaiters;
  readonly runs: RunArchive;
  readonly keyStreams: KeyStreams;
}

/** Waits for runs on behalf of the routes. */
export class RunWaiting {
  private readonly parts: WaitingParts;

  constructor(parts: WaitingParts) {
    this.parts = parts;
  }

  /** Refuses a request that wants to wait when too many wait, before it has any effect. */
  admit({ namespace }: Caller): void {
    this.parts.admission.read();
    this.parts.waiters.admit(namespace);
  }

  /** Returns when the run has ended, or its current state at the timeout. */
  async wait(caller: Caller, id: string, timeoutMs: number, reply: FastifyReply): Promise<string> {
    const { engine, waiters, runs, keyStreams } = this.parts;
    const { namespace } = caller;
    const signal = endSignal(keyStreams, caller, reply);
    // `one` shows what has ended; that something has not ended shows only by the waiting itself.
    const waited = await engine.readShown((state) => {
      const slot = findRun(state, namespace, id);
      if (slot === NO_SLOT || isRunOver(state.runs.table.state[slot])) return undefined;
      const run = state.runs.table.number[slot] as TaskNumber;
      // Wrapped in an object: otherwise awaiting the read would also await the end of the run.
      return { views: waiters.waitForAny(namespace, [run], timeoutMs, signal) };
    });
    const [view] = (await waited?.views) ?? [];
    keyStreams.check(caller);
    return view ?? runs.one(namespace, id);
  }
}
