import { setTimeout as sleep } from 'node:timers/promises';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { usageOf } from '../peers/usage.ts';
import { finishRate } from './measures.ts';
import { BenchCluster } from './setups.ts';

const LOOK_EVERY_MS = 100;

/** Lag and CPU of a standby under load, and what the database has of the finished tasks. */
export async function measureStandby(tasks: number, print: (line: string) => void): Promise<void> {
  const cluster = await BenchCluster.start(2);
  try {
    const [owner, standby] = [await cluster.servers.owner(), await cluster.servers.standby()];
    await finishRate(owner.url, Math.min(tasks, 5000));
    const sizesBefore = await tableBytes(cluster.store);
    const [ownerBefore, before] = [await usageOf([owner.pid]), await usageOf([standby.pid])];
    const done = new AbortController();
    const looking = lagsUntil(done.signal, owner.url, standby.url);
    const rate = await finishRate(owner.url, tasks);
    done.abort();
    const lags = (await looking).toSorted((a, b) => a - b);
    const [ownerAfter, after] = [await usageOf([owner.pid]), await usageOf([standby.pid])];
    const cpu = (from: number, to: number) => `${(((to - from) * 1000) / tasks).toFixed(1)} µs`;
    print(
      `standby: at ${Math.round(rate)} tasks/s it takes ${cpu(before.cpuMs, after.cpuMs)} of CPU ` +
        `per task (the owner ${cpu(ownerBefore.cpuMs, ownerAfter.cpuMs)}); records behind p50 ` +
        `${lags[Math.floor(lags.length / 2)]}, max ${lags.at(-1)}`,
    );
    const sizes = await tableBytes(cluster.store);
    const perTask = [...sizes].map(([kind, bytes]) => {
      const grown = (bytes - (sizesBefore.get(kind) ?? 0)) / tasks;
      return `${kind} ${grown.toFixed(0)}`;
    });
    print(`database: bytes per finished task: ${perTask.join(', ')}`);
  } finally {
    await cluster.stop();
  }
}

/** Records that the standby has not read, at most: its position is asked first. */
async function lagsUntil(signal: AbortSignal, owner: string, standby: string): Promise<number[]> {
  const lags: number[] = [];
  while (!signal.aborted) {
    const metrics = await (await fetch(`${standby}/metrics`)).text();
    const read = Number(/^sluice_standby_position (\d+)$/m.exec(metrics)?.[1]);
    const answer = await fetch(`${owner}/v1/cluster`);
    const { partitions } = (await answer.json()) as {
      partitions: { log: { position: number } }[];
    };
    lags.push(partitions[0].log.position - read);
    await sleep(LOOK_EVERY_MS);
  }
  return lags;
}

/** Bytes on disk by the first word of the tables' names, with indexes. */
export async function tableBytes(store: string): Promise<ReadonlyMap<string, number>> {
  const [server, schema] = store.split('?schema=');
  const session = await TempStore.connectTo(server);
  const { rows } = await session.query<{ kind: string; bytes: number }>(
    `SELECT split_part(tablename, '_', 1) AS kind,
      sum(pg_total_relation_size((schemaname || '.' || tablename)::regclass))::float8 AS bytes
     FROM pg_tables WHERE schemaname = $1 AND tablename ~ '^(log|task|tag|snapshot)_' GROUP BY 1`,
    [schema],
  );
  await session.end();
  return new Map(rows.map(({ kind, bytes }) => [kind, bytes]));
}
