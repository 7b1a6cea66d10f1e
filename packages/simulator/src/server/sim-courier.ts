import type { Engine } from '@sluice/engine';
import { type CallbackMessage, Courier, type Gateway, type SendOutcome } from '@sluice/server';
import type { SimProcess } from '../kernel/sim-process.ts';

/** Receivers of callbacks. */
export interface Receivers {
  send(process: SimProcess, message: CallbackMessage): Promise<SendOutcome>;
}

interface CourierParts {
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly process: SimProcess;
  readonly receivers: Receivers;
  readonly clock: () => number;
  readonly random: () => number;
}

/** The courier of the server, with low limits so that it reaches them. */
export function simCourier({ gateway, process, receivers, ...rest }: CourierParts): Courier {
  return new Courier({
    ...rest,
    // In production, a projection can still read a task that left memory. Here the read never
    // fails.
    readTask: (namespace, id) =>
      gateway.get(namespace, id).catch((cause: Error & { code?: unknown }) => {
        if (cause.code === 'task_not_found') return JSON.stringify({ id });
        throw cause;
      }),
    // The definitions of the simulator have no callbacks.
    readRun: (_, id) => Promise.resolve(JSON.stringify({ id })),
    send: (message) => receivers.send(process, message),
    startTimer: process.after,
    concurrencyMax: 6,
    perHostMax: 3,
  });
}
