import { setTimeout as sleep } from 'node:timers/promises';
import { defineTask, PermanentFailure } from '@sluice/sdk';

const HOUR_MS = 3_600_000;

export function awaitDelivery(isDelivered: (orderId: string) => Promise<boolean>) {
  return defineTask({
    type: 'await-delivery',
    async run(input: { orderId: string }, { now, signal }) {
      const giveUpAt = now() + 24 * HOUR_MS;
      while (now() < giveUpAt) {
        if (await isDelivered(input.orderId)) return new Date(now()).toISOString();
        await sleep(HOUR_MS, undefined, { signal });
      }
      throw new PermanentFailure(`${input.orderId} did not arrive within a day`);
    },
  });
}
