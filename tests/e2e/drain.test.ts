import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errorOf, RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';

const TASK = '{"type":"half-sent"}';
const HALF = TASK.length / 2;

let folder: string;
let server: ServerProcess;
const connections: RawConnection[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(async () => {
  for (const connection of connections.splice(0)) connection.destroy();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** A request that the server has begun to read and cannot finish. */
async function halfSent(path: string, body: string): Promise<RawConnection> {
  const connection = await RawConnection.open(server.url);
  connections.push(connection);
  // An answer on the same connection shows that the server has begun to read what follows.
  connection.send('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await connection.heard(/"ok"/);
  connection.send(`POST ${path} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n`);
  connection.send(`content-length: ${body.length}\r\n\r\n${body.slice(0, HALF)}`);
  await connection.heard(/ 100 Continue/);
  return connection;
}

test('a request under way is finished, a new connection is not made', async () => {
  server = await ServerProcess.startServer(folder, '--drain-ms', '60000');
  const connection = await halfSent('/v1/tasks', TASK);

  server.signal('SIGTERM');
  await server.printed(/the server is stopping/);
  await expect(fetch(`${server.url}/health/live`)).rejects.toThrow();
  connection.send(TASK.slice(HALF));

  expect(await connection.whenClosed()).toMatch(/HTTP\/1.1 201 /);
  expect(await server.exited()).toBe(0);
  expect(server.lastOutput).toContain('the server has stopped');
});

test('a worker that comes while the server stops is sent elsewhere', async () => {
  server = await ServerProcess.startServer(folder, '--drain-ms', '60000');
  const body = '{"name":"late","types":[{"type":"a"}]}';
  const connection = await halfSent('/v1/worker-sessions', body);

  server.signal('SIGTERM');
  await server.printed(/the server is stopping/);
  connection.send(body.slice(HALF));

  const answer = await connection.whenClosed();
  expect(errorOf(answer.slice(answer.lastIndexOf('HTTP/1.1 ')))).toMatchObject({
    status: 503,
    code: 'unavailable',
  });
  expect(await server.exited()).toBe(0);
});

test('a request that does not end is cut when the time is up', async () => {
  server = await ServerProcess.startServer(folder, '--drain-ms', '300');
  const connection = await halfSent('/v1/tasks', TASK);

  server.signal('SIGTERM');

  expect(await server.exited()).toBe(0);
  expect(await connection.whenClosed()).not.toMatch(/HTTP\/1.1 201 /);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s as a second signal ends the server at once', async (second, code) => {
  server = await ServerProcess.startServer(folder, '--drain-ms', '600000');
  await halfSent('/v1/tasks', TASK);

  server.signal('SIGTERM');
  await server.printed(/the server is stopping/);
  server.signal(second);

  expect(await server.exited()).toBe(code);
});
