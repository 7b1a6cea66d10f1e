import { installPeers } from '../peers/packages.ts';
import { Stage } from '../peers/stage.ts';
import type { Store } from '../peers/stores/store.ts';
import { WORKS } from '../peers/works/works.ts';
import { BenchCluster } from './setups.ts';

const CONTENDERS = ['sluice', 'pg-boss', 'graphile-worker'];
const SHOWN_WORKS = ['throughput', 'drain'];

/** Tasks per second of each contender on PostgreSQL, by the works of `npm run bench`. */
export async function measurePeers(print: (line: string) => void): Promise<void> {
  installPeers(['postgres']);
  for (const work of SHOWN_WORKS) {
    print(`${work}: ${WORKS[work].what}`);
    for (const name of CONTENDERS) {
      const store = name === 'sluice' ? await clusterStore() : undefined;
      const stage = await Stage.set(name, store);
      try {
        const { perSecond = Number.NaN } = await WORKS[work].run(stage, 1);
        print(`  ${name}: ${Math.round(perSecond)}/s`);
      } finally {
        await stage.clear();
      }
    }
  }
}

/** An owner on PostgreSQL, as a contender sees it. */
async function clusterStore(): Promise<Store> {
  const cluster = await BenchCluster.start(1);
  const { url: address, pid } = await cluster.servers.owner();
  return {
    address,
    pid,
    killAndStart: () => Promise.reject(new Error('not part of this benchmark')),
    stop: () => cluster.stop(),
  };
}
