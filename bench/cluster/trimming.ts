import { setTimeout as sleep } from 'node:timers/promises';
import { finishRate } from './measures.ts';
import { BenchCluster } from './setups.ts';
import { tableBytes } from './standby.ts';

/** So that a table of the log, of 256 MiB, is full after some ten thousand tasks. */
const INPUT = { text: 'a'.repeat(8192) };
const TASKS = 60_000;
/** Snapshots follow each other sooner than by default: the log is trimmed behind the older one. */
const SNAPSHOT_EVERY_BYTES = 64 * 2 ** 20;

const LOOK_EVERY_MS = 500;
/** The log has been trimmed when it has not changed for this long. */
const QUIET_MS = 10_000;

/** What the log and its snapshots take while tasks run, and after the log was trimmed. */
export async function measureTrimming(print: (line: string) => void): Promise<void> {
  const cluster = await BenchCluster.start(0);
  try {
    await cluster.servers.add({ SLUICE_SNAPSHOT_EVERY_BYTES: String(SNAPSHOT_EVERY_BYTES) });
    const { url } = await cluster.servers.owner();
    await finishRate(url, 5000);
    const before = await tableBytes(cluster.store);
    let largest = 0;
    const look = async () => {
      const sizes = await tableBytes(cluster.store);
      const log = sizes.get('log') ?? 0;
      largest = Math.max(largest, log);
      return { sizes, log };
    };
    const loading = finishRate(url, TASKS, INPUT);
    let isLoaded = false;
    void loading.then(() => {
      isLoaded = true;
    });
    let [last, since] = [0, performance.now()];
    while (!isLoaded || performance.now() - since < QUIET_MS) {
      const { log } = await look();
      if (log !== last || !isLoaded) since = performance.now();
      last = log;
      await sleep(LOOK_EVERY_MS);
    }
    const rate = await loading;
    const after = (await look()).sizes;
    const mib = (bytes = 0) => `${Math.round(bytes / 2 ** 20)} MiB`;
    const kinds = ['log', 'snapshot', 'task', 'tag'];
    const shown = (sizes: ReadonlyMap<string, number>) =>
      kinds.map((kind) => `${kind} ${mib(sizes.get(kind))}`).join(', ');
    const written = (TASKS * INPUT.text.length) / 2 ** 20;
    print(
      `trimming: ${TASKS} tasks at ${Math.round(rate)}/s, ${Math.round(written)} MiB of input; ` +
        `before: ${shown(before)}; the log at its largest ${mib(largest)}; ` +
        `after trimming: ${shown(after)}`,
    );
  } finally {
    await cluster.stop();
  }
}
