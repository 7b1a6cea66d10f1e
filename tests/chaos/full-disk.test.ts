import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SmallDisk } from '../../packages/log/src/tmpfs-fixture.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { ServerProcess } from '../support/server-process.ts';

/** Three segments of 32 MiB (current, next, reserve), some room, and no more. */
const DISK_BYTES = 160 * 1024 * 1024;

let disk: SmallDisk;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  disk = await SmallDisk.mount(DISK_BYTES);
  server = await ServerProcess.startDev(join(disk.path, 'data'));
  api = new ApiClient(server.url, 'http1');
});

afterEach(async () => {
  api.close();
  await server.kill();
  await disk.unmount();
});

/** Submits until the server answers with this status. */
async function submitUntil(status: number): Promise<object> {
  const tasks = Array(15).fill({ type: 'big', input: 'x'.repeat(250 * 1024) });
  const giveUpAt = performance.now() + 60_000;
  while (performance.now() < giveUpAt) {
    const answer = await api.post('/v1/tasks', tasks);
    if (answer.status === status) return answer.body;
  }
  throw new Error(`no submit was answered with ${status}`);
}

test('a full disk refuses tasks, records reports, and is forgiven when there is room', async () => {
  await api.post('/v1/tasks', { type: 'hello' });
  const session = new SessionUnderTest(server.url, 'http1');
  const { sessionId } = await session.welcomed();
  const { id, lease } = await session.takeTask();

  await disk.fill();
  expect(await submitUntil(507)).toMatchObject({ error: { code: 'disk_full' } });

  const report = await api.report(sessionId, [{ lease, kind: 'succeeded', output: 'kept' }]);
  expect(report.body).toEqual({ outcomes: ['ok'] });

  await disk.free();
  await submitUntil(201);
  await server.kill();
  server = await ServerProcess.startDev(join(disk.path, 'data'));
  const view = await new ApiClient(server.url, 'h2c').get(`/v1/tasks/${id}`);
  expect(view.body).toMatchObject({ state: 'succeeded', output: 'kept' });
  session.disconnect();
});
