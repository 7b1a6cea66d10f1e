import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorOf, RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { BlobClient, largeJson, sha256Of } from './blob-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const MIB = 1024 * 1024;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let blobs: BlobClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await start();
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
  blobs = new BlobClient(server.url);
}

async function kill(): Promise<void> {
  api.close();
  await server.kill();
}

async function uploaded(content = largeJson(MIB)): Promise<string> {
  expect((await blobs.put(content)).status).toBe(200);
  return sha256Of(content);
}

/** All files of blobs, finished or not. */
async function files(): Promise<string[]> {
  const found = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      return join(parentPath, name);
    });
}

describe.each(['http1', 'h2c'] as const)('over %s', (protocol) => {
  test('what was uploaded comes back, byte for byte', async () => {
    blobs = new BlobClient(server.url, protocol);
    const content = largeJson(5 * MIB);
    const sha256 = sha256Of(content);

    const first = await blobs.put(content);
    const again = await blobs.put(content);

    expect(first).toEqual({ status: 200, text: JSON.stringify({ sha256, bytes: content.length }) });
    expect(again).toEqual(first);
    expect(await blobs.get(sha256)).toEqual({ status: 200, text: content });
    expect(await files()).toHaveLength(1);
  });

  test('what has another hash, or is too long, is refused and leaves nothing', async () => {
    blobs = new BlobClient(server.url, protocol);
    const content = largeJson(2 * MIB);

    const wrong = await blobs.put(content, sha256Of('other'));
    const tooLong = await blobs.put(largeJson(64 * MIB));

    expect([wrong.status, JSON.parse(wrong.text).error.code]).toEqual([400, 'blob_hash_mismatch']);
    expect([tooLong.status, JSON.parse(tooLong.text).error.code]).toEqual([
      413,
      'payload_too_large',
    ]);
    expect((await blobs.get(sha256Of('other'))).status).toBe(404);
    expect(await files()).toEqual([]);
  });
});

test('a blob is an input and an output, from submit to view, and after a restart', async () => {
  const inputBlob = await uploaded();
  const { body: submitted } = await api.post('/v1/tasks', { type: 'hello', inputBlob });
  const session = new SessionUnderTest(server.url, 'http1');
  const { sessionId } = await session.welcomed();
  const pushed = await session.takeTask();
  const outputBlob = await uploaded();

  const reports = [{ lease: pushed.lease, kind: 'succeeded', outputBlob }];
  expect((await api.report(sessionId, reports)).body).toEqual({ outcomes: ['ok'] });

  expect(pushed).toMatchObject({ id: submitted.id, inputBlob });
  expect(pushed).not.toHaveProperty('input');
  const before = (await api.get(`/v1/tasks/${submitted.id}`)).body;
  expect(before).toMatchObject({ state: 'succeeded', inputBlob, outputBlob });
  expect(before).not.toHaveProperty('input');
  expect(before).not.toHaveProperty('output');
  session.disconnect();
  await kill();
  await start();
  expect((await api.get(`/v1/tasks/${submitted.id}`)).body).toEqual(before);
  const { items } = (await api.get('/v1/tasks')).body;
  expect(items).toMatchObject([{ id: submitted.id, inputBlob, outputBlob }]);
  expect((await blobs.get(inputBlob)).status).toBe(200);
});

describe('an upload that does not end', () => {
  const content = largeJson(3 * MIB);
  const sha256 = sha256Of(content);

  async function begun(): Promise<RawConnection> {
    const connection = await RawConnection.open(server.url);
    connection.send(`PUT /v1/blobs/${sha256} HTTP/1.1\r\nhost: 127.0.0.1\r\n`);
    connection.send(`content-length: ${content.length}\r\n\r\n${content.slice(0, 2 * MIB)}`);
    await waitUntil(async () => (await files()).length === 1, {
      what: 'the upload has begun',
      timeoutMs: 30_000,
    });
    return connection;
  }

  test('because the client is gone leaves nothing', async () => {
    const connection = await begun();
    expect((await blobs.get(sha256)).status).toBe(404);

    connection.destroy();

    await waitUntil(async () => (await files()).length === 0, {
      what: 'nothing is left',
      timeoutMs: 30_000,
    });
    await uploaded(content);
  });

  test('because the server is killed is seen by nobody, and works the next time', async () => {
    const connection = await begun();

    await kill();
    connection.destroy();
    expect(await files()).toHaveLength(1);
    await start();

    expect(await files()).toEqual([]);
    expect((await blobs.get(sha256)).status).toBe(404);
    await uploaded(content);
    expect((await blobs.get(sha256)).text).toBe(content);
  });
});

test('a client that stalls is cut off, and leaves nothing', async () => {
  await kill();
  const times = ['--http-request-timeout-ms', '1000', '--http-head-timeout-ms', '1000'];
  server = await ServerProcess.startServer(folder, ...times);
  const connection = await RawConnection.open(server.url);

  connection.send(`PUT /v1/blobs/${sha256Of('xyz')} HTTP/1.1\r\nhost: 127.0.0.1\r\n`);
  connection.send('content-length: 3\r\n\r\nx');

  expect(errorOf(await connection.whenClosed())).toMatchObject({ code: 'request_timeout' });
  await waitUntil(async () => (await files()).length === 0, {
    what: 'nothing is left',
    timeoutMs: 30_000,
  });
});

test('a file that was damaged on the disk is cut off, set aside, and said so', async () => {
  const content = largeJson(3 * MIB);
  const sha256 = await uploaded(content);
  const [path] = await files();
  await appendFile(path, '!');

  await expect(blobs.get(sha256)).rejects.toThrow();

  await server.printed(/a blob is damaged on the disk and was set aside/);
  expect(await files()).toEqual([join(folder, 'blobs', '.damaged', `default.${sha256}`)]);
  expect((await blobs.get(sha256)).status).toBe(404);
  await uploaded(content);
  expect((await blobs.get(sha256)).text).toBe(content);
});

test('many uploads and downloads at once do not fill the memory', async () => {
  const contents = Array.from({ length: 10 }, () => largeJson(63 * MIB));
  const residentBytes = async (): Promise<number> => {
    return (await api.get('/v1/cluster')).body.memory.residentBytes;
  };
  await blobs.put(largeJson(MIB));
  const before = await residentBytes();
  let most = before;
  let isDone = false;
  const watch = (async () => {
    while (!isDone) most = Math.max(most, await residentBytes());
  })();

  await Promise.all(contents.map((content) => uploaded(content)));
  await Promise.all(
    contents.map(async (content) => {
      const { text } = await blobs.get(sha256Of(content));
      expect(sha256Of(text)).toBe(sha256Of(content));
    }),
  );
  isDone = true;
  await watch;

  expect(await files()).toHaveLength(11);
  expect(most - before).toBeLessThan(256 * MIB);
});
