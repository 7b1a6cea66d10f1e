import { readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SmallDisk } from '../../packages/log/src/testing/tmpfs-fixture.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { BlobClient, largeJson, sha256Of } from '../e2e/blob-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Room for three segments of 32 MiB (current, next, reserve) and a little more. */
const DISK_BYTES = 160 * 1024 * 1024;

const MIB = 1024 * 1024;

/** The segments, the 128 MiB that uploads must leave free, and half as much for uploads. */
const ROOMY_BYTES = 288 * MIB;

let disk: SmallDisk;
let server: ServerProcess;
let api: ApiClient;

beforeEach(() => startOn(DISK_BYTES));

afterEach(() => stop());

async function startOn(diskBytes: number): Promise<void> {
  disk = await SmallDisk.mount(diskBytes);
  server = await ServerProcess.startDev(join(disk.path, 'data'));
  api = new ApiClient(server.url, 'http1');
}

async function stop(): Promise<void> {
  api.close();
  await server.kill();
  await disk.unmount();
}

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

describe('blobs', () => {
  const content = largeJson(3 * MIB);
  const sha256 = sha256Of(content);

  beforeEach(async () => {
    await stop();
    await startOn(ROOMY_BYTES);
  });

  async function put(): Promise<number> {
    return (await new BlobClient(server.url).put(content)).status;
  }

  async function files(): Promise<string[]> {
    const path = join(disk.path, 'data/blobs');
    const found = await readdir(path, { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile()).map(({ name }) => name);
  }

  test('are refused before they take what others need, and taken when there is room', async () => {
    // There is room for this upload and for the log, but not for the reserve.
    const { bsize, bavail } = await statfs(disk.path);
    await disk.fill(bsize * bavail - 110 * MIB);
    expect(await put()).toBe(507);
    expect(await files()).toEqual([]);
    expect((await api.post('/v1/tasks', { type: 'a' })).status).toBe(201);

    await disk.free();

    expect(await put()).toBe(200);
    expect(await files()).toEqual([sha256]);
  });

  test('that meet a full disk half-way leave nothing', async () => {
    const connection = await RawConnection.open(server.url);
    connection.send(`PUT /v1/blobs/${sha256} HTTP/1.1\r\nhost: 127.0.0.1\r\n`);
    connection.send(`content-length: ${content.length}\r\n\r\n${content.slice(0, MIB)}`);
    const what = 'the upload has begun';
    await waitUntil(async () => (await files()).length === 1, { what, timeoutMs: 30_000 });

    await disk.fill();
    connection.send(content.slice(MIB));

    const answer = await connection.heard(/\r\n\r\n\{.*\}$/s);
    expect(answer).toContain('HTTP/1.1 507');
    expect(answer).toContain('disk_full');
    expect(await files()).toEqual([]);
    await disk.free();
    await submitUntil(201);
    expect(await put()).toBe(200);
    connection.destroy();
  });
});
