import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { LosingProxy } from './losing-proxy.ts';

let folder: string;
let server: ServerProcess;
let direct: Sluice;
let sluice: Sluice;
/** Loses the first answer to each path that ends in one of these words. */
const proxy = new LosingProxy(
  () => server.url,
  ({ url = '' }) => /\/(signal|complete|fail)$/.test(url) && !proxy.lost.includes(url),
);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  direct = new Sluice({ url: server.url });
  sluice = new Sluice({ url: await proxy.start() });
});

afterAll(async () => {
  await Promise.all([direct.close(), sluice.close()]);
  proxy.stop();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function post(path: string): Promise<void> {
  const answer = await fetch(`${server.url}${path}`, { method: 'POST' });
  expect(answer.status).toBe(200);
}

test('a signal whose answer was lost is heard once', async () => {
  const heard: unknown[] = [];
  const listens = defineTask({
    type: 'listens',
    run: (_: unknown, { onSignal }) =>
      new Promise<string>((resolve) => {
        onSignal((name) => (name === 'end' ? resolve('over') : heard.push(name)));
      }),
  });
  const worker = await direct.work([listens], { handleSignals: false });
  const task = await direct.submit(listens, null);
  await expect.poll(async () => (await task.get()).state).toBe('running');

  await sluice.task(task.id).signal('poke');
  await sluice.task(task.id).signal('poke again');
  await direct.task(task.id).signal('end');

  expect(await task.result()).toBe('over');
  expect(proxy.lost).toContain(`/v1/tasks/${task.id}/signal`);
  expect(heard).toEqual(['poke', 'poke again']);
  await worker.stop();
});

test('complete and fail whose answers were lost are no errors', async () => {
  const done = await direct.submit('nobody-runs-this');
  const broken = await direct.submit('nobody-runs-this');

  await sluice.task(done.id).complete({ a: 1 });
  await sluice.task(broken.id).fail('no use');

  expect(proxy.lost).toEqual(expect.arrayContaining([`/v1/tasks/${done.id}/complete`]));
  expect(await done.get()).toMatchObject({ state: 'succeeded', output: { a: 1 } });
  expect(await broken.get()).toMatchObject({ state: 'failed', error: { message: 'no use' } });
  await expect(sluice.task(done.id).complete({ a: 1 })).rejects.toMatchObject({
    code: 'task_finished',
  });
});

test('a resend does not end a task that was retried meanwhile, also across a restart', async () => {
  const task = await direct.submit('nobody-runs-this');
  const { port } = new URL(server.url);
  proxy.meanwhile = async () => {
    await post(`/v1/tasks/${task.id}/retry`);
    await server.kill();
    server = await ServerProcess.startDev(folder, undefined, port);
  };

  await sluice.task(task.id).fail('no use');

  expect(proxy.lost).toContain(`/v1/tasks/${task.id}/fail`);
  expect((await task.get()).state).toBe('queued');
});
