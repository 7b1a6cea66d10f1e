import { setTimeout as sleep } from 'node:timers/promises';
import { defineTask, Sluice } from '@sluice/sdk';
import type { ServerProcess } from '../../tests/support/server-process.ts';
import type { BenchCluster } from './setups.ts';

const INPUT = { url: 'https://example.org/videos/0001.mp4', height: 720, tags: 'a'.repeat(100) };
const BATCH = 500;
const SLOTS = 100;
/** A request that takes longer did not get an answer. */
const ANSWER_MS_MAX = 10_000;
/** Between the start of a standby and the loss of the owner. */
const SETTLE_MS = 3_000;

const idle = defineTask({ type: 'idle', run: () => null });

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Acknowledged submits per second, in batches, without a worker. */
export async function submitRate(url: string, count: number): Promise<number> {
  const client = new Sluice({ url });
  const startedAt = performance.now();
  const batches = Array.from({ length: count / BATCH }, () => Array(BATCH).fill(INPUT));
  await Promise.all(batches.map((inputs) => client.submitMany(idle, inputs)));
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  return count / seconds;
}

/** Tasks per second from their submit to their end, with one worker in this process. */
export async function finishRate(
  url: string,
  count: number,
  input: object = INPUT,
): Promise<number> {
  const client = new Sluice({ url });
  let ended = 0;
  const done = Promise.withResolvers<void>();
  const task = defineTask({
    type: 'counted',
    run: () => {
      ended += 1;
      if (ended === count) done.resolve();
      return null;
    },
  });
  await client.work([task], { handleSignals: false, slots: SLOTS, onNotice: () => undefined });
  const startedAt = performance.now();
  for (let sent = 0; sent < count; sent += BATCH) {
    await client.submitMany(task, Array(BATCH).fill(input));
  }
  await done.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  return count / seconds;
}

/** Milliseconds from the submit to the start of the handler, at a fixed rate: p50 and p99. */
export async function latency(url: string, perSecond: number, seconds: number): Promise<number[]> {
  const client = new Sluice({ url });
  const waits: number[] = [];
  const task = defineTask({
    type: 'timed',
    run: ({ at }: { at: number }) => {
      waits.push(performance.now() - at);
      return null;
    },
  });
  await client.work([task], { handleSignals: false, slots: SLOTS, onNotice: () => undefined });
  const startedAt = performance.now();
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
    for (; sent < due; sent++) void client.submit(task, { at: performance.now() });
    await sleep(1);
  }
  while (waits.length < perSecond * seconds) await sleep(10);
  await client.close();
  // The first second is that of compilers.
  const sorted = waits.slice(perSecond).toSorted((a, b) => a - b);
  return [percentile(sorted, 0.5), percentile(sorted, 0.99)];
}

/** The longest time without an answer of the other server while `take` takes the owner away. */
export async function gap(
  { servers }: BenchCluster,
  take: (owner: ServerProcess) => Promise<unknown>,
): Promise<number> {
  const owner = await servers.owner();
  const { url } = await servers.standby();
  // A server that has just started is still loading; one that waits for its turn is not.
  await sleep(SETTLE_MS);
  const stopped = new AbortController();
  const answers: number[] = [performance.now()];
  const asking = (async () => {
    while (!stopped.signal.aborted) {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX);
      const answer = await fetch(`${url}/v1/queues`, { signal }).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok === true) answers.push(performance.now());
      await sleep(2);
    }
  })();
  await sleep(200);
  await take(owner);
  await servers.owner();
  await sleep(200);
  stopped.abort();
  await asking;
  return Math.max(...answers.slice(1).map((at, place) => at - answers[place]));
}
