import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FailingWrites } from '../../packages/log/src/testing/failing-writes-fixture.ts';
import { TempFolder } from '../../packages/log/src/testing/temp-folder-fixture.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { NoAnswerError } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';

let folder: TempFolder;
let servers: ServerProcess[];
beforeEach(async () => {
  folder = await TempFolder.create();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.kill();
  await folder.dispose();
});

async function start(env?: Record<string, string>): Promise<ServerProcess> {
  const server = await ServerProcess.startDev(join(folder.path, 'data'), env);
  servers.push(server);
  return server;
}

/** Submits tasks one after the other until there is no answer; returns the ids from the answers. */
async function submitToTheEnd(api: ApiClient): Promise<string[]> {
  const ids: string[] = [];
  try {
    for (;;) {
      const { status, body } = await api.post('/v1/tasks', { type: 'hello', input: ids.length });
      if (status !== 201) return ids;
      ids.push(body.id);
    }
  } catch (cause) {
    if (!(cause instanceof NoAnswerError)) throw cause;
    return ids;
  }
}

test('the first write error ends the server, and what it acknowledged is there again', async () => {
  const shim = await FailingWrites.compile(folder.path);
  const server = await start(shim.environment(40));
  const api = new ApiClient(server.url, 'http1');

  const ids = await submitToTheEnd(api);

  expect(await server.exited()).toBe(1);
  expect(server.lastOutput).toContain('EIO');
  expect(await shim.report()).toBe('failed\n');
  expect(ids.length).toBeGreaterThan(30);
  const next = new ApiClient((await start()).url, 'http1');
  for (const [input, id] of ids.entries()) {
    expect((await next.get(`/v1/tasks/${id}`)).body).toMatchObject({ state: 'queued', input });
  }
  api.close();
  next.close();
});
