import type { Engine } from '@sluice/engine';
import { type CallbackMessage, Courier, type Gateway, type SendOutcome } from '@sluice/server';
import type { SimProcess } from '../kernel/sim-process.ts';

/** Those who are called back. */
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

/** The courier of the server, with little room so that its bounds are met. */
export function simCourier({ gateway, process, receivers, ...rest }: CourierParts): Courier {
  return new Courier({
    ...rest,
    // What left memory is kept by somebody: here, by nobody who could fail.
    readTask: (namespace, id) =>
      gateway.get(namespace, id).catch((cause: Error & { code?: unknown }) => {
        if (cause.code === 'task_not_found') return JSON.stringify({ id });
        throw cause;
      }),
    send: (message) => receivers.send(process, message),
    startTimer: process.after,
    concurrencyMax: 6,
    perHostMax: 3,
  });
}
