import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function fail(type: string, message: string): Promise<string> {
  const { body } = await api.post('/v1/tasks', { type });
  const failed = await api.post(`/v1/tasks/${body.id}/fail`, { error: { message } });
  expect(failed.status).toBe(200);
  return body.id;
}

/** The fingerprint that the server gives to the group with that message. */
async function fingerprintOf(message: string): Promise<string> {
  let fingerprint: string | undefined;
  const isCounted = async () => {
    const { body } = await api.get('/v1/dead-letters/groups');
    const groups: { message: string; fingerprint: string }[] = body.items;
    fingerprint = groups.find((group) => group.message === message)?.fingerprint;
    return fingerprint !== undefined;
  };
  await waitUntil(isCounted, { what: `'${message}' is counted`, timeoutMs: 30_000 });
  return fingerprint ?? '';
}

async function dead(query = ''): Promise<string[]> {
  const { body } = await api.get(`/v1/dead-letters${query}`);
  return body.items.map(({ id }: { id: string }) => id);
}

/** Three tasks of two types that fail alike, and one that fails differently. */
async function failFour(): Promise<{ ids: string[]; fingerprint: string }> {
  const ids = [
    await fail('mail', 'host 1 is down'),
    await fail('mail', 'disk full'),
    await fail('mail', 'host 2 is down'),
    await fail('sms', 'host 3 is down'),
  ];
  return { ids, fingerprint: await fingerprintOf('host 3 is down') };
}

test('dead letters that failed alike are listed, counted, and run again at once', async () => {
  const { ids, fingerprint } = await failFour();
  const filter = { type: 'mail', fingerprint };

  const dry = await api.post('/v1/dead-letters/redrive', { filter, dryRun: true });
  expect(dry).toMatchObject({ status: 202, body: { id: null, count: 2, dryRun: true } });
  expect(await dead(`?fingerprint=${fingerprint}`)).toEqual([ids[0], ids[2], ids[3]]);
  expect(await dead(`?fingerprint=${fingerprint}&type=mail`)).toEqual([ids[0], ids[2]]);

  const { body } = await api.post('/v1/dead-letters/redrive', { filter });

  expect(body).toEqual({ id: null, count: 2, dryRun: false });
  expect(await dead()).toEqual([ids[1], ids[3]]);
  expect((await api.get(`/v1/tasks/${ids[0]}`)).body.state).toBe('queued');
  const [record, ...others] = (await api.get('/v1/audit')).body.items;
  expect(record).toMatchObject({ action: 'redrive_started', subject: 'mail' });
  expect(record.detail).toContain(fingerprint);
  expect(others).toEqual([]);
});

test('dead letters that failed alike run again at a rate, each at its time', async () => {
  const { ids, fingerprint } = await failFour();
  const filter = { fingerprint };

  const { status, body } = await api.post('/v1/dead-letters/redrive', { filter, ratePerSec: 0.01 });

  expect([status, body]).toEqual([202, { id: null, count: 3, dryRun: false }]);
  expect(await dead()).toEqual([ids[1]]);
  const [first, second, third] = await Promise.all(
    [ids[0], ids[2], ids[3]].map(async (id) => (await api.get(`/v1/tasks/${id}`)).body),
  );
  expect([first.state, second.state, third.state]).toEqual(['queued', 'waiting', 'waiting']);
  expect(Date.parse(third.runAt) - Date.parse(second.runAt)).toBe(100_000);
});

test('dead letters that failed alike are discarded, and stay failed', async () => {
  const { ids, fingerprint } = await failFour();
  const filter = { fingerprint };

  const dry = await api.post('/v1/dead-letters/discard', { filter, dryRun: true });
  const done = await api.post('/v1/dead-letters/discard', { filter });
  const again = await api.post('/v1/dead-letters/discard', { filter });

  expect(dry.body).toEqual({ matched: 3, discarded: 0, dryRun: true });
  expect(done.body).toEqual({ matched: 3, discarded: 3, dryRun: false });
  expect(again.body).toEqual({ matched: 0, discarded: 0, dryRun: false });
  expect(await dead()).toEqual([ids[1]]);
  expect((await api.get(`/v1/tasks/${ids[0]}`)).body.state).toBe('failed');
  expect((await api.get('/v1/audit')).body.items).toHaveLength(1);
});

test('thousands are dealt with in parts, and every page leads on', async () => {
  const COUNT = 2500;
  const ids: string[] = [];
  for (let n = 0; n < COUNT; n += 500) {
    const { body } = await api.post('/v1/tasks', Array(500).fill({ type: 'many' }));
    ids.push(...body.items.map(({ id }: { id: string }) => id));
  }
  for (const [n, id] of ids.entries()) {
    const message = n % 5 === 0 ? `host ${n} is down` : 'disk full';
    await api.post(`/v1/tasks/${id}/fail`, { error: { message } });
  }
  const fingerprint = await fingerprintOf(`host ${COUNT - 5} is down`);
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await api.get(`/v1/dead-letters?fingerprint=${fingerprint}&limit=300${more}`);
    found.push(...body.items.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
  }

  const filter = { fingerprint: await fingerprintOf('disk full') };
  const { body } = await api.post('/v1/dead-letters/redrive', { filter });

  expect(found).toEqual(ids.filter((_, n) => n % 5 === 0));
  expect(body).toMatchObject({ count: COUNT - COUNT / 5 });
  expect(await dead('?limit=1000')).toEqual(found);
});

test('a wrong fingerprint is refused by its name', async () => {
  const wrong = await api.post('/v1/dead-letters/discard', { filter: { fingerprint: 'XYZ' } });
  const query = await api.get('/v1/dead-letters?fingerprint=XYZ');

  expect(wrong.body.error.details[0].path).toBe('/filter/fingerprint');
  expect(query.body.error.details[0].path).toBe('/fingerprint');
});

test('the command line has them too', async () => {
  const { fingerprint } = await failFour();
  const sluice = (...args: string[]) => runSluice(['dead-letter', ...args, '--url', server.url]);
  const flags = ['--fingerprint', fingerprint];

  const groups = await sluice('groups');
  const listed = await sluice('list', ...flags);
  const paged = await sluice('list', ...flags, '--limit', '2', '--json');
  const dry = await sluice('redrive', ...flags, '--dry-run');
  const discarded = await sluice('discard', ...flags, '--type', 'sms');
  const redriven = await sluice('redrive', ...flags);
  const paced = await sluice('redrive', ...flags, '--rate', '5');

  expect(groups.stdout).toMatch(new RegExp(`${fingerprint} +2 +mail`));
  expect(listed.stdout.trim().split('\n')).toHaveLength(4);
  expect(JSON.parse(paged.stdout)).toMatchObject({ nextCursor: expect.any(String) });
  expect(paged.stderr).toBe('there are more; use --limit to see them\n');
  expect(dry.stdout).toBe('3 dead letters would run again\n');
  expect(discarded.stdout).toBe('1 discarded\n');
  expect(redriven.stdout).toBe('2 dead letters run again\n');
  expect(paced.stdout).toBe('0 dead letters run again\n');
});
