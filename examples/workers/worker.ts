/**
 * A worker with the SDK, which does all that `worker.py` and `worker.sh` spell out.
 *
 *   SLUICE_URL=http://127.0.0.1:7420 node examples/workers/worker.ts
 */
import { setTimeout } from 'node:timers/promises';
import { defineTask, Sluice, type TaskContext } from '@sluice/sdk';

const PROGRESS_EVERY_MS = 200;

const echo = defineTask({ type: 'echo', run: told(async (input: unknown) => input) });

const fail = defineTask({
  type: 'fail',
  run: told(async ({ message }: { message: string }) => {
    throw new Error(message);
  }),
});

const sleep = defineTask({
  type: 'sleep',
  run: told(async ({ ms }: { ms: number }, { signal, progress }) => {
    for (let slept = 0; slept < ms; slept += PROGRESS_EVERY_MS) {
      await setTimeout(Math.min(PROGRESS_EVERY_MS, ms - slept), undefined, { signal });
      await progress(Math.min(1, (slept + PROGRESS_EVERY_MS) / ms));
    }
    return ms;
  }),
});

const sluice = new Sluice();
let isKnown = false;
await sluice.work([echo, fail, sleep], {
  name: process.env.WORKER_NAME ?? 'worker.ts',
  onNotice: (notice) => {
    if (notice.type !== 'connected') return;
    say(isKnown ? 'is back' : `is ready at ${notice.address}`);
    isKnown = true;
  },
});

function told<Input, Output>(run: (input: Input, context: TaskContext) => Promise<Output>) {
  return async (input: Input, context: TaskContext): Promise<Output> => {
    say(`runs ${context.id}`);
    return run(input, context).finally(() => say(`ended ${context.id}`));
  };
}

function say(text: string): void {
  console.log(`worker.ts ${text}`);
}
