import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Protocol } from '../support/http-client.ts';
import { parseMetrics } from '../support/metrics-text.ts';
import { errorOf, RawConnection } from '../support/raw-connection.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

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

async function open(count: number): Promise<readonly RawConnection[]> {
  const opened = await Promise.all(
    Array.from({ length: count }, () => RawConnection.open(server.url)),
  );
  connections.push(...opened);
  return opened;
}

/** Reads metrics on one persistent connection, because further connections may be refused. */
class Scraper {
  private readonly connection: RawConnection;
  private scrapes = 0;

  constructor(connection: RawConnection) {
    this.connection = connection;
  }

  async value(name: string, label?: string): Promise<number> {
    const before = this.connection.text.length;
    this.scrapes += 1;
    this.connection.send('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await this.connection.heard(new RegExp(`(?:sluice_info\\{[^]*){${this.scrapes}}1\n$`));
    const [, page] = this.connection.text.slice(before).split('\r\n\r\n');
    const samples = parseMetrics(page).get(name)?.samples ?? [];
    const found = samples.filter((sample) => {
      return label === undefined || [...sample.labels.values()].includes(label);
    });
    expect(found).toHaveLength(1);
    return found[0].value;
  }

  async until(name: string, isSo: (value: number) => boolean, label?: string): Promise<void> {
    while (!isSo(await this.value(name, label)));
  }
}

test('a connection too many is told so and closed; when others leave there is room', async () => {
  server = await ServerProcess.startServer(folder, '--http-connections-max', '20');
  const [kept, ...others] = await open(20);
  const scraper = new Scraper(kept);
  await scraper.until('sluice_http_connections', (count) => count === 20);

  const [tooMany] = await open(1);
  const answer = errorOf(await tooMany.whenClosed());

  expect(answer).toMatchObject({ status: 429, code: 'overloaded' });
  expect(tooMany.text).toMatch(/\r\nretry-after: 1\r\n/);
  expect(await scraper.value('sluice_http_refused_total', 'overloaded')).toBe(1);
  for (const other of others) other.destroy();
  await scraper.until('sluice_http_connections', (count) => count === 1);
  expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
});

/**
 * Open file limit of this process. The server inherits it, and both need some files for themselves.
 */
const DESCRIPTORS = Number(
  /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1],
);
const CROWD = Math.min(10_000, DESCRIPTORS - 500);

test(`${CROWD} connections at once: requests are answered, and all is cleaned up`, async () => {
  server = await ServerProcess.startServer(folder, '--http-head-timeout-ms', '60000');
  const [kept] = await open(1);
  const scraper = new Scraper(kept);
  for (let opened = 1; opened < CROWD; opened += 250) await open(Math.min(250, CROWD - opened));
  await scraper.until('sluice_http_connections', (count) => count === CROWD);

  // Some connections send requests, and the others stay open.
  const speakers = connections.slice(1, 101);
  for (const { send } of speakers.map((each) => ({ send: each.send.bind(each) }))) {
    send('POST /v1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12\r\n\r\n{"type":"a"}');
  }
  await Promise.all(speakers.map((speaker) => speaker.heard(/^HTTP\/1.1 201 /)));
  const submitted = await scraper.value('sluice_tasks_submitted_total');
  for (const connection of connections.slice(1)) connection.destroy();
  await scraper.until('sluice_http_connections', (count) => count === 1);

  expect(submitted).toBe(100);
  expect(server.hasCrashed).toBe(false);
});

const DEAF = '{"name":"deaf","types":[{"type":"big"}],"leaseMs":3000,"capacity":{"slots":1000}}';

async function openDeaf(protocol: Protocol): Promise<void> {
  if (protocol === 'h2c') {
    const client = connectHttp2(server.url);
    client.on('error', () => undefined);
    const request = client.request({ ':path': '/v1/worker-sessions', ':method': 'POST' });
    request.on('error', () => undefined);
    request.end(DEAF);
    // The rest of the stream is never read.
    await once(request, 'response');
    return;
  }
  const [deaf] = await open(1);
  const head = `host: localhost\r\ncontent-length: ${DEAF.length}\r\n`;
  deaf.send(`POST /v1/worker-sessions HTTP/1.1\r\n${head}\r\n${DEAF}`);
  await deaf.heard(/event: welcome/);
  deaf.socket.pause();
}

test.each<Protocol>(['http1', 'h2c'])(
  'a worker that does not read is cut off, and its tasks go to another (%s)',
  async (protocol) => {
    server = await ServerProcess.startServer(folder, '--http-stalled-reader-ms', '1000');
    const api = new ApiClient(server.url, 'http1');
    await openDeaf(protocol);
    const [kept] = await open(1);

    const task = { type: 'big', input: 'x'.repeat(250_000) };
    for (let i = 0; i < 5; i++) await api.post('/v1/tasks', Array(15).fill(task));
    await server.printed(
      /a worker does not read its stream; the stream was closed","worker":"deaf"/,
    );
    const scraper = new Scraper(kept);
    await scraper.until('sluice_worker_sessions', (count) => count === 0, 'connected');
    const session = new SessionUnderTest(server.url, 'http1', {
      types: [{ type: 'big' }],
      capacity: { slots: 75 },
    });
    for (let i = 0; i < 75; i++) await session.takeTask();

    expect(session.waitingTasks).toBe(0);
    session.disconnect();
    api.close();
  },
);
