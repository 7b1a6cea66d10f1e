/** An agent that stands still for longer than its lease, while its program goes on. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const LONE_AGENT = fileURLToPath(new URL('./lone-agent.ts', import.meta.url));
const WAIT_MS = 60_000;
/** Short, so that the test is; long enough for an agent on a busy machine. */
const LEASE_MS = 6000;
const LONG_LEASE_MS = 60_000;

/** Notes all the time that it runs: its lease and which program it is. Ends when it may. */
const PROGRAM = `
read -r me < /proc/sys/kernel/random/uuid
while [ ! -e "$SHARED/go" ]; do
  echo "$SLUICE_ATTEMPT $me" >> "$SHARED/ledger"
  sleep 0.05
done
`;

let folder: string;
let shared: string;
let server: ServerProcess;
let api: ApiClient;
let agents: ServerProcess[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-frozen-agent-'));
  shared = join(folder, 'shared');
  await mkdir(shared);
  await writeFile(join(shared, 'ledger'), '');
  // Programs run as nobody.
  await chmod(folder, 0o711);
  for (const path of [shared, join(shared, 'ledger')]) await chmod(path, 0o777);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agents = [];
});

afterAll(async () => {
  // After a failure an agent may be frozen still, with a program that waits.
  await writeFile(join(shared, 'go'), '');
  for (const agent of agents) {
    agent.signal('SIGCONT');
    agent.signal('SIGTERM');
    await agent.exited();
  }
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function startAgent(name: string, leaseMs: number): Promise<ServerProcess> {
  const args = [LONE_AGENT, server.url, join(folder, name), name, String(leaseMs)];
  const agent = await ServerProcess.start({ command: process.execPath, args });
  agents.push(agent);
  return agent;
}

/** How often each program of an attempt has said that it runs. */
async function programs(attempt: number): Promise<Map<string, number>> {
  const lines = (await readFile(join(shared, 'ledger'), 'utf8')).split('\n');
  const counts = new Map<string, number>();
  for (const line of lines) {
    const [number, program = ''] = line.split(' ');
    if (number === String(attempt)) counts.set(program, (counts.get(program) ?? 0) + 1);
  }
  return counts;
}

/** Resolves when a program of the attempt has run for a while from now on. */
async function goesOn(attempt: number): Promise<void> {
  const count = async () => [...(await programs(attempt)).values()].reduce((a, b) => a + b, 0);
  const before = await count();
  await waitUntil(async () => (await count()) > before + 3, {
    what: `attempt ${attempt} goes on`,
    timeoutMs: WAIT_MS,
  });
}

async function processesOf(id: string, attempt: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const marks = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return text.includes(`SLUICE_ATTEMPT_ID=${id}-${attempt}-`);
    }),
  );
  return marks.filter(Boolean).length;
}

test('a frozen agent loses its command after its lease, and ends it when it wakes', async () => {
  const frozen = await startAgent('frozen', LEASE_MS);
  const { body: task } = await api.post('/v1/tasks', {
    exec: { command: ['sh', '-c', PROGRAM], env: { SHARED: shared } },
    retry: { maxAttempts: 3, delayMs: 1, backoff: 'fixed' },
  });
  await goesOn(1);
  await startAgent('other', LONG_LEASE_MS);

  frozen.signal('SIGSTOP');
  const { body: workers } = await api.get('/v1/workers');
  const { heardAt } = workers.items.find(({ name }: { name: string }) => name === 'frozen');
  await goesOn(2);
  // Nobody is there to end it.
  await goesOn(1);
  frozen.signal('SIGCONT');

  await waitUntil(async () => (await processesOf(task.id, 1)) === 0, {
    what: 'the frozen agent has ended its program',
    timeoutMs: WAIT_MS,
  });
  await goesOn(2);
  await writeFile(join(shared, 'go'), '');
  await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  // Only the whole task has all attempts.
  const { body: ended } = await api.get(`/v1/tasks/${task.id}`);
  expect(ended).toMatchObject({
    state: 'succeeded',
    attempts: [
      { worker: 'frozen', outcome: 'worker_lost' },
      { worker: 'other', outcome: 'succeeded' },
    ],
  });
  const [{ leasedAt }] = ended.attempts.slice(-1);
  expect(Date.parse(leasedAt) - Date.parse(heardAt)).toBeGreaterThanOrEqual(LEASE_MS);
  expect([(await programs(1)).size, (await programs(2)).size]).toEqual([1, 1]);

  // It works for the server again, and nothing of the first attempt is left.
  const { body: next } = await api.post(`/v1/tasks?waitMs=${WAIT_MS}`, {
    exec: { command: ['true'] },
    constraints: ['name == frozen'],
  });
  expect(next).toMatchObject({ state: 'succeeded' });
  await waitUntil(
    async () => (await readdir(join(folder, 'frozen'))).every((name) => !name.startsWith('t_')),
    { what: 'no folder is left', timeoutMs: WAIT_MS },
  );
});
