/** A server starts on what every earlier version wrote, and goes on with it. */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';

const LOGS = join(import.meta.dirname, '../golden/logs');

let folder: string;
let server: ServerProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-upgrade-'));
});

afterEach(async () => {
  await server?.kill();
  await rm(folder, { recursive: true });
});

async function start(key: string): Promise<KeyedApi> {
  server = await ServerProcess.startServer(folder);
  return new KeyedApi(server.url, key);
}

/**
 * The first log is from before workflows, schedules and keys of requests. That each of them leads
 * to the state that it had is tested without a server (golden.test.ts): its inputs are no JSON.
 */
test.each(await readdir(LOGS))('on golden log %s', async (number) => {
  for (const part of ['log', 'snapshots']) {
    await cp(join(LOGS, number, part), join(folder, part), { recursive: true });
  }
  const made = await runSluice(['key', 'create', '--role', 'admin', '--data', folder]);
  const [key = ''] = /slk_\S+/.exec(made.stdout) ?? [];
  expect([key, made.stderr]).not.toEqual(['', expect.anything()]);
  let api = await start(key);

  const workflow = { tasks: [{ taskReferenceName: 'a', type: 'NOOP' }] };
  const registered = await fetch(`${server?.url}/v1/workflows/added/versions/1`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(workflow),
  });
  const { body: run } = await api.post('/v1/runs?waitMs=20000', { workflow: 'added' });
  const { body: task } = await api.post('/v1/tasks', { type: 'added' });
  await server?.kill();
  api = await start(key);

  expect([registered.status, run.status]).toEqual([201, 'succeeded']);
  expect((await api.get(`/v1/runs/${run.id}`)).body.status).toBe('succeeded');
  expect((await api.get(`/v1/tasks/${task.id}`)).body.state).toBe('queued');
});
