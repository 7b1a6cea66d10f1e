import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 60_000;
const HEAD = 'HTTP/1.1\r\nhost: localhost\r\n';

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-readers-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Odd things that a reader of a stream may do, and whether the server closes the connection. */
const ODDITIES = [
  {
    does: 'sends nonsense',
    isCutOff: true,
    act: (connection: RawConnection) => connection.send('\u0000\u00ffnonsense\r\n\r\n'.repeat(50)),
  },
  {
    does: 'closes its side',
    isCutOff: true,
    act: ({ socket }: RawConnection) => socket.end(),
  },
  {
    does: 'resets the connection',
    isCutOff: false,
    act: ({ socket }: RawConnection) => socket.resetAndDestroy(),
  },
  {
    does: 'asks for more before the stream has ended',
    isCutOff: false,
    act: (connection: RawConnection) => connection.send(`GET /v1/workers ${HEAD}\r\n`),
  },
] as const;

async function open(request: string): Promise<RawConnection> {
  const connection = await RawConnection.open(server.url);
  connection.send(request);
  await connection.heard(/^HTTP\/1\.1 200 OK\r\n[\s\S]*text\/event-stream/);
  return connection;
}

async function workerNames(): Promise<string[]> {
  const answer = await fetch(`${server.url}/v1/workers`);
  expect(answer.status).toBe(200);
  const { items } = (await answer.json()) as { items: { name: string }[] };
  return items.map(({ name }) => name);
}

describe.concurrent.each(ODDITIES)('a reader that $does', ({ does, isCutOff, act }) => {
  test('of the stream of a worker loses its session when the lease is over', async () => {
    const session = JSON.stringify({ name: does, types: [{ type: 'odd' }], leaseMs: 5000 });
    const lengthOf = `content-length: ${session.length}\r\n`;
    const connection = await open(`POST /v1/worker-sessions ${HEAD}${lengthOf}\r\n${session}`);
    await connection.heard(/event: welcome/);
    expect(await workerNames()).toContain(does);

    act(connection);

    if (isCutOff) await connection.whenClosed();
    connection.destroy();
    const isForgotten = async () => !(await workerNames()).includes(does);
    await waitUntil(isForgotten, { what: 'it is forgotten', timeoutMs: TIMEOUT_MS });
  });

  test('of the stream of events leaves the others as they are', async () => {
    const other = await open(`GET /v1/events ${HEAD}\r\n`);
    const connection = await open(`GET /v1/events ${HEAD}\r\n`);

    act(connection);

    if (isCutOff) await connection.whenClosed();
    const submitted = await fetch(`${server.url}/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'seen' }),
    });
    const { id } = (await submitted.json()) as { id: string };
    await other.heard(new RegExp(id));
    connection.destroy();
    other.destroy();
  });
});
