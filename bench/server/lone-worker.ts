/** An SDK worker with its defaults, in a separate process. Tasks of the warm-up do not count. */
import { defineTask, Sluice } from '@sluice/sdk';
import { wallClockMs } from '../path/connection.ts';
import type { LoneReport } from './lone-client.ts';

process.once('message', async ({ url, tasks }: { url: string; tasks: number }) => {
  const latenciesMs: number[] = [];
  const bench = defineTask({
    type: 'bench',
    run({ at }: { at: number }) {
      if (at === 0) return;
      latenciesMs.push(wallClockMs() - at);
      if (latenciesMs.length !== tasks) return;
      latenciesMs.sort((a, b) => a - b);
      process.send?.({ latenciesMs } satisfies LoneReport);
    },
  });
  await new Sluice({ url }).work([bench], { name: 'bench' });
  process.send?.('connected');
});
