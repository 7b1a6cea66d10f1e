/** An SDK client in a separate process. It submits as each message of its parent asks. */
import { Sluice } from '@sluice/sdk';
import { wallClockMs } from '../path/connection.ts';
import { atRate } from './open-loop.ts';

export interface LoneOrder {
  readonly tasks: number;
  /** Tasks per second, evenly spread; `alone`: one after the other; or how many at once. */
  readonly pace: 'alone' | { readonly rate: number } | { readonly atOnce: number };
  /** Whether the worker counts them. */
  readonly isMeasured: boolean;
}

export interface LoneReport {
  /** Sorted: to the handler in the worker, to the answer in the client. */
  readonly latenciesMs: readonly number[];
}

/** After this pause a task that was alone has ended, unless the machine is busy. */
const PAUSE_MS = 4;

const TEXT = 'x'.repeat(120);

let sluice: Sluice | undefined;

process.on('message', async (order: LoneOrder & { readonly url: string }) => {
  sluice ??= await connected(order.url);
  const latenciesMs: number[] = [];
  await submitAll(order, async () => {
    const calledAt = performance.now();
    await sluice?.submit('bench', { at: order.isMeasured ? wallClockMs() : 0, text: TEXT });
    latenciesMs.push(performance.now() - calledAt);
  });
  latenciesMs.sort((a, b) => a - b);
  process.send?.({ latenciesMs } satisfies LoneReport);
});

/** A registered type, because the SDK warns of others. */
async function connected(url: string): Promise<Sluice> {
  const made = new Sluice({ url });
  await made.register({ type: 'bench' });
  return made;
}

async function submitAll({ pace, tasks }: LoneOrder, submit: () => Promise<void>): Promise<void> {
  if (pace !== 'alone' && 'rate' in pace) return atRate(pace.rate, tasks, submit);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next++ < tasks) {
      await submit();
      if (pace === 'alone') await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const lanes = pace === 'alone' ? 1 : pace.atOnce;
  await Promise.all(Array.from({ length: lanes }, lane));
}
