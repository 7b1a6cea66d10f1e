import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpClient, NoAnswerError } from '../support/http-client.ts';
import { type PushedTask, sendReports } from '../support/worker-client.ts';
import { arm, KilledServers, submit, Worker } from './kill-point-fixture.ts';

let servers: KilledServers;
beforeEach(async () => {
  servers = await KilledServers.create();
});
afterEach(() => servers.dispose());

async function readTask(http: HttpClient, id: string): Promise<unknown> {
  const { text } = await http.send({ method: 'GET', path: `/v1/tasks/${id}` });
  return JSON.parse(text);
}

function succeeded(lease: string) {
  return { reports: [{ lease, kind: 'succeeded' as const, output: `done by ${lease}` }] };
}

function endOf({ id, lease }: PushedTask, input: string) {
  const output = `done by ${lease}`;
  const attempts = [expect.objectContaining({ attempt: 1, outcome: 'succeeded' })];
  return { id, state: 'succeeded', reason: 'succeeded', attempt: 1, attempts, input, output };
}

test('server killed between commit and push', async () => {
  const { server, http } = await servers.startDying();
  const worker = new Worker(http);
  const { sessionId } = await worker.welcome();
  await arm(server);

  await expect(submit(http, 'a')).rejects.toThrow(NoAnswerError);
  expect(await server.exited()).toBe('SIGKILL');
  await worker.closed;
  expect(worker.pushed).toEqual([]);
  const next = await servers.start();
  const resumed = new Worker(next.http, { sessionId, running: [] });

  expect(await resumed.welcome()).toMatchObject({ sessionId, resumed: true, lost: [] });
  const [task] = await resumed.pushes();
  expect(task).toMatchObject({ type: 'hello', attempt: 1, input: 'a' });
  expect(await sendReports(next.http, sessionId, succeeded(task.lease))).toEqual(['ok']);
  expect(await readTask(next.http, task.id)).toMatchObject(endOf(task, 'a'));
  expect(resumed.pushed).toEqual([task]);
});

test('server killed between push and report', async () => {
  const { server, http } = await servers.start();
  const worker = new Worker(http);
  const { sessionId } = await worker.welcome();
  const id = await submit(http, 'a');
  const [task] = await worker.pushes();
  expect(task).toMatchObject({ id, attempt: 1 });

  await server.kill();
  await worker.closed;
  expect(worker.pushed).toEqual([task]);
  const next = await servers.start();
  const resumed = new Worker(next.http, { sessionId, running: [task.lease] });

  expect(await resumed.welcome()).toMatchObject({ sessionId, resumed: true, lost: [] });
  // A task that was pushed again would have arrived before this one.
  const laterId = await submit(next.http, 'b');
  const pushes = await resumed.pushes();
  expect(pushes.map((each) => each.id)).toEqual([laterId]);
  expect(await sendReports(next.http, sessionId, succeeded(task.lease))).toEqual(['ok']);
  expect(await readTask(next.http, id)).toMatchObject(endOf(task, 'a'));
  expect(resumed.pushed).toHaveLength(1);
});

test('server killed between report and its answer', async () => {
  const { server, http } = await servers.startDying();
  const worker = new Worker(http);
  const { sessionId } = await worker.welcome();
  const id = await submit(http, 'a');
  const [task] = await worker.pushes();
  await arm(server);

  const report = sendReports(http, sessionId, succeeded(task.lease));
  await expect(report).rejects.toThrow(NoAnswerError);
  expect(await server.exited()).toBe('SIGKILL');
  await worker.closed;
  const next = await servers.start();
  const resumed = new Worker(next.http, { sessionId, running: [task.lease] });

  const welcome = await resumed.welcome();
  expect(welcome.lost).toEqual([task.lease]);
  const again = await sendReports(next.http, welcome.sessionId, succeeded(task.lease));
  expect(again).toEqual(['duplicate']);
  expect(await readTask(next.http, id)).toMatchObject(endOf(task, 'a'));
  const laterId = await submit(next.http, 'b');
  const pushes = await resumed.pushes();
  expect(pushes.map((each) => each.id)).toEqual([laterId]);
});
