/** Owners that are claimed away, have wrong clocks, or are dumped while they work. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TempStore } from '@sluice/postgres/testing/store-fixture';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DoublingLoad } from '../chaos/doubling-load.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;
const DELAY_MS = 3_000;
/** How wrong a server may be about the database's clock while both wait for a core. */
const UNCERTAIN_MS = 1_000;
const MOVED_CLOCK = new URL('../support/moved-clock.ts', import.meta.url).href;

let store: TempStore;
let cluster: ClusterProcesses;

beforeEach(async () => {
  store = await TempStore.create();
});

afterEach(async () => {
  await cluster.dispose();
  await store.dispose();
});

test('a partition that others claim again and again loses no task', async () => {
  cluster = await ClusterProcesses.start(store.text, 2);
  const load = new DoublingLoad({ url: cluster.servers.map(({ url }) => url) });
  await load.start();
  await load.goesOn(50);

  for (let round = 0; round < 2; round += 1) {
    // Nobody asked the owner: its next batch finds another epoch.
    const thief = await store.open();
    await thief.acquire();
    await thief.close();
    await load.goesOn(50);
  }

  expect(await load.problems()).toEqual([]);
});

test('servers whose clocks are wrong by an hour fire at the time of the database', async () => {
  cluster = await ClusterProcesses.start(store.text, 0);
  const early = await cluster.add(clockAhead(HOUR_MS));
  const late = await cluster.add(clockAhead(-HOUR_MS));
  const sluice = new Sluice({ url: [early.url, late.url] });
  const began = new Map<string, number>();
  const remind = defineTask({
    type: 'remind',
    run: (name: string) => {
      began.set(name, Date.now());
      return null;
    },
  });
  await sluice.work([remind], { handleSignals: false });

  const due = new Map<string, number>();
  const submit = async (name: string) => {
    due.set(name, Date.now() + DELAY_MS);
    await sluice.submit(remind, name, { delayMs: DELAY_MS });
  };
  const allBegun = () =>
    waitUntil(() => began.size === due.size, { what: 'reminders came', timeoutMs: TIMEOUT_MS });
  await submit('by the early one');
  await allBegun();
  await submit('taken over');
  await cluster.kill(early);
  await submit('by the late one');
  await allBegun();

  for (const [name, at] of due) {
    expect([name, (began.get(name) ?? 0) >= at - UNCERTAIN_MS]).toEqual([name, true]);
  }
  await sluice.close();
});

function clockAhead(ms: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${MOVED_CLOCK}`, SLUICE_TEST_CLOCK_AHEAD_MS: String(ms) };
}

test('a dump of the database under load holds nobody up, and has a whole log', async () => {
  cluster = await ClusterProcesses.start(store.text, 1);
  const load = new DoublingLoad({ url: cluster.servers[0].url });
  await load.start();
  await load.goesOn(200);

  const [server] = store.text.split('?');
  const args = ['--schema', store.address.schema, '--format', 'plain', server];
  const dumping = promisify(execFile)('pg_dump', args, { maxBuffer: 2 ** 28 });
  await load.goesOn(200);
  const { stdout: dump } = await dumping;

  expect(await load.problems()).toEqual([]);
  const [, rows = ''] = /COPY \S+\.log_0_0 [^;]*;\n(.*?)\n\\\./s.exec(dump) ?? [];
  // A table has no order.
  const batches = rows.split('\n').map((row) => row.split('\t').map(Number));
  let next = 0;
  for (const [first, count] of batches.toSorted((a, b) => a[0] - b[0])) {
    expect(first).toBe(next);
    next += count;
  }
  expect(next).toBeGreaterThan(20);
});
