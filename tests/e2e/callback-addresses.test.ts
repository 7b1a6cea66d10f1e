import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallbackReceiver } from '../support/callback-receiver.ts';
import { NameServer } from '../support/name-server.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

const GOOD = '127.0.0.2';
const BAD = '127.0.0.1';
const WAIT_MS = 20_000;

let folder: string;
let names: NameServer;
let server: ServerProcess;
let api: ApiClient;
let receiver: CallbackReceiver;
let trap: CallbackReceiver;

/**
 * Only one address of this machine may be called. The trap listens on another one, on the same
 * port.
 */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-callbacks-'));
  receiver = await CallbackReceiver.start('', 0, GOOD);
  trap = await CallbackReceiver.start('', receiver.port, BAD);
  names = await NameServer.start({
    'steady.example': [GOOD],
    'rebinds.example': [GOOD, BAD],
    'trap.example': [BAD],
  });
  const dns = ['--callbacks-dns-servers', names.address];
  server = await ServerProcess.startServer(folder, '--callbacks-allow', GOOD, ...dns);
  api = new ApiClient(server.url, 'http1');
});

afterEach(async () => {
  api.close();
  await server.kill();
  await receiver.close();
  await trap.close();
  names.close();
  await rm(folder, { recursive: true });
});

test('a name is called where it leads, by its name', async () => {
  await ended('steady.example');

  await heard(1);

  expect(receiver.received[0].headers.host).toBe(`steady.example:${receiver.port}`);
});

test('a name that leads elsewhere at the second look is called where it led, or not', async () => {
  const [first, second] = [await ended('rebinds.example'), await ended('rebinds.example')];

  await waitUntil(async () => (await givenUp()).length === 1, {
    what: 'one is given up',
    timeoutMs: WAIT_MS,
  });
  await heard(1);

  expect(new Set([receiver.received[0].task.id, (await givenUp())[0].taskId])).toEqual(
    new Set([first, second]),
  );
  expect(await givenUp()).toMatchObject([{ failure: 'address_not_allowed', status: null }]);
  expect(names.asked.filter((name) => name === 'rebinds.example')).toHaveLength(2);
  expect(trap.received).toEqual([]);
});

test.each(['trap.example', BAD, '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', 'localhost'])(
  '%s is not called',
  async (host) => {
    const taskId = await ended(host);

    await waitUntil(async () => (await givenUp()).length === 1, {
      what: 'it is given up',
      timeoutMs: WAIT_MS,
    });

    expect(await givenUp()).toMatchObject([{ taskId, failure: 'address_not_allowed' }]);
    expect(trap.received).toEqual([]);
  },
);

test('a name that is not known is tried again later', async () => {
  const taskId = await ended('nobody.example');

  await waitUntil(async () => (await pending())[0]?.tries === 1, {
    what: 'it was tried',
    timeoutMs: WAIT_MS,
  });

  expect(await pending()).toMatchObject([{ taskId, failure: 'name_not_resolved' }]);
});

async function ended(host: string): Promise<string> {
  const callback = { url: `http://${host}:${receiver.port}/`, on: ['succeeded'] };
  const { body } = await api.post('/v1/tasks', { type: 'x', callback });
  await api.post(`/v1/tasks/${body.id}/complete`, { output: 1 });
  return body.id;
}

async function givenUp() {
  return (await api.get('/v1/callbacks?state=given_up')).body.items;
}

async function pending() {
  return (await api.get('/v1/callbacks?state=pending')).body.items;
}

function heard(count: number): Promise<void> {
  const what = `${count} callbacks arrived`;
  return waitUntil(() => receiver.received.length >= count, { what, timeoutMs: WAIT_MS });
}
