import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const LONE_WORKER = fileURLToPath(new URL('./lone-worker.ts', import.meta.url));
/** The shortest lease that a worker may request. */
const LEASE_MS = 3000;

let folder: string;
let processes: ServerProcess[];
let sessions: SessionUnderTest[];
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-stopped-'));
  server = await ServerProcess.startDev(folder);
  processes = [server];
  sessions = [];
  api = new ApiClient(server.url, 'http1');
});

afterEach(async () => {
  api.close();
  for (const session of sessions) session.disconnect();
  for (const each of processes) await each.kill();
  await rm(folder, { recursive: true, force: true });
});

function openSession(type: string): SessionUnderTest {
  const request = { types: [{ type }], leaseMs: LEASE_MS };
  const session = new SessionUnderTest(server.url, 'http1', request);
  sessions.push(session);
  return session;
}

async function startLoneWorker(): Promise<ServerProcess> {
  const args = [LONE_WORKER, server.url, String(LEASE_MS)];
  const worker = await ServerProcess.start({ command: process.execPath, args });
  processes.push(worker);
  return worker;
}

async function submit(type: string, more: object = {}): Promise<string> {
  const { body } = await api.post('/v1/tasks', { type, ...more });
  return body.id;
}

test('a server that stood still for longer than a lease loses no session or lease', async () => {
  const silent = openSession('quiet');
  const talking = openSession('talk');
  const silentId = (await silent.welcomed()).sessionId;
  const talkingId = (await talking.welcomed()).sessionId;
  const tasks = [await submit('quiet'), await submit('talk')];
  const [quietTask, talkTask] = [await silent.takeTask(), await talking.takeTask()];
  // A task that is taken from its holder goes to one of these.
  const others = [openSession('quiet'), openSession('talk')];
  for (const other of others) await other.welcomed();

  server.signal('SIGSTOP');
  const heartbeat = api.report(talkingId, []);
  const submitted = submit('later');
  const goesOnAt = performance.now() + 1.5 * LEASE_MS;
  const isOver = (): boolean => performance.now() >= goesOnAt;
  await waitUntil(isOver, { what: 'a lease is over', timeoutMs: 60_000 });
  server.signal('SIGCONT');

  expect((await heartbeat).body).toEqual({ outcomes: [] });
  await submitted;
  // When this task is due, the server has looked for lost sessions more than once.
  await submit('mark', { delayMs: 0.6 * LEASE_MS });
  await openSession('mark').takeTask();
  expect(others.map((other) => other.waitingTasks)).toEqual([0, 0]);
  const reports = await Promise.all([
    api.report(silentId, [{ lease: quietTask.lease, kind: 'succeeded', output: 1 }]),
    api.report(talkingId, [{ lease: talkTask.lease, kind: 'succeeded', output: 1 }]),
  ]);
  expect(reports.map(({ body }) => body.outcomes)).toEqual([['ok'], ['ok']]);
  for (const id of tasks) {
    const { body } = await api.get(`/v1/tasks/${id}`);
    expect(body).toMatchObject({ state: 'succeeded', attempt: 1 });
  }
});

test.each([
  { moment: 'while another runs it', isFirst: true },
  { moment: 'after another finished it', isFirst: false },
])('a worker stopped past its lease that reports $moment is fenced out', async ({ isFirst }) => {
  const worker = await startLoneWorker();
  const id = await submit('hello');
  await worker.printed(/took attempt 1\n/);
  const other = openSession('hello');
  const { sessionId } = await other.welcomed();

  worker.signal('SIGSTOP');
  const again = await other.takeTask();
  const reportLate = async (): Promise<void> => {
    worker.signal('SIGCONT');
    worker.signal('SIGUSR2');
    await worker.printed(/heard stale_lease\n/);
  };
  if (isFirst) await reportLate();
  const report = { lease: again.lease, kind: 'succeeded', output: 'in time' };
  const { body } = await api.report(sessionId, [report]);
  if (!isFirst) await reportLate();

  expect([again.id, again.attempt]).toEqual([id, 2]);
  expect(body).toEqual({ outcomes: ['ok'] });
  const view = await api.get(`/v1/tasks/${id}`);
  expect(view.body).toMatchObject({ state: 'succeeded', attempt: 2, output: 'in time' });
});
