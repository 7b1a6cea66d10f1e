/**
 * A worker with the SDK in a separate process, which a test may stop and kill.
 *
 *   node sdk-worker.ts URL NAME LEASE_MS RUNS_FILE
 *
 * Each run of a handler first writes a line to the file. So the line is there even if the process
 * is killed right after.
 */
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defineTask, Sluice, type TaskContext } from '@sluice/sdk';

const [url, name, leaseMs, runsFile] = process.argv.slice(2);

/** Takes as long as its input says, whatever happens to the server meanwhile. */
const square = defineTask({
  type: 'square',
  async run({ n, holdMs }: { n: number; holdMs: number }, context) {
    note(context);
    await setTimeout(holdMs);
    return n * n;
  },
});

/** Ends when this process gets SIGUSR2, and not when it is told to stop. */
const hold = defineTask({
  type: 'hold',
  async run(_: unknown, context) {
    note(context);
    const { signal } = context;
    signal.addEventListener('abort', () => console.log(`told ${signal.reason.type}`));
    // Listen first: the test may send the signal as soon as it reads the line below.
    const told = once(process, 'SIGUSR2');
    console.log(`took attempt ${context.attempt}`);
    await told;
    return name;
  },
});

const sluice = new Sluice({ url });
await sluice.work([square, hold], {
  name,
  leaseMs: Number(leaseMs),
  onNotice: (notice) => {
    if (notice.type === 'report_refused') console.log(`heard ${notice.why}`);
  },
});
console.log(`the worker is ready at ${url}`);

function note({ id, attempt }: TaskContext): void {
  appendFileSync(runsFile, `${id} ${attempt}\n`);
}
