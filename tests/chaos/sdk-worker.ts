/**
 * A worker with the SDK in a process of its own, which a test may stop and kill.
 *
 *   node sdk-worker.ts URL NAME LEASE_MS RUNS_FILE
 *
 * Each run of a handler is a line in the file, written before anything else: it is there also when
 * the process is killed the moment after.
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
    // Who reads that it took the task may send the signal at once.
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
