import type { Engine } from '@sluice/engine';
import type { Configuration } from '../config/settings.ts';
import type { Admission } from '../limits/admission.ts';
import type { Projection } from '../projection/projection.ts';
import { RunArchive } from '../runs/run-archive.ts';
import { TaskArchive } from '../tasks/task-archive.ts';
import { AddressGuard } from './address-guard.ts';
import { CallbackSender } from './callback-sender.ts';
import { Courier, type CourierOptions } from './courier.ts';
import { nameResolver } from './name-resolver.ts';

interface CourierParts extends Pick<CourierOptions, 'clock' | 'startTimer' | 'onTried'> {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly version: string;
}

export interface RunningCourier extends Pick<Courier, 'begin' | 'staged'> {
  /**
   * Tries under way have `timeMs` to end. Then they are cut, and tried again after the next start.
   */
  close(timeMs: number): Promise<void>;
}

/** Delivers pending callbacks over HTTP, from `begin` on. */
export function makeCourier(
  settings: Configuration['callbacks'],
  parts: CourierParts,
): RunningCourier {
  const { secret, perHostMax, concurrencyMax } = settings;
  const { version, clock } = parts;
  const guard = new AddressGuard(settings.allow);
  const resolve = nameResolver(settings.dnsServers);
  const sender = new CallbackSender({ guard, resolve, version, secret, clock });
  const archive = new TaskArchive(parts);
  const runs = new RunArchive(parts);
  const courier = new Courier({
    ...parts,
    readTask: (namespace, id) => archive.one(namespace, id),
    readRun: (namespace, id) => runs.summary(namespace, id),
    send: (message) => sender.send(message),
    random: Math.random,
    perHostMax,
    concurrencyMax,
  });
  return {
    begin: () => courier.begin(),
    staged: (numbers, state) => courier.staged(numbers, state),
    close: async (timeMs) => {
      const cut = setTimeout(() => sender.stop(), timeMs);
      await courier.close();
      clearTimeout(cut);
    },
  };
}
