import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function submit(tasks: readonly object[]): Promise<string[]> {
  const { body } = await api.post('/v1/tasks', tasks);
  return body.items.map(({ id }: { id: string }) => id);
}

async function listed(query: string): Promise<string[]> {
  const { status, body } = await api.get(`/v1/tasks?${query}`);
  expect(status).toBe(200);
  return body.items.map(({ id }: { id: string }) => id);
}

describe('a list', () => {
  test('has the newest first, page by page, also while tasks arrive', async () => {
    const type = 'paged';
    const ids = await submit(Array.from({ length: 7 }, (_, n) => ({ type, input: n })));
    const found: string[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null && page < 10; page++) {
      const { body } = await api.get(
        `/v1/tasks?type=${type}&limit=3&cursor=${cursor}`.replace(/&cursor=$/, ''),
      );
      found.push(...body.items.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
      expect(body).toMatchObject({ asOf: expect.stringMatching(/Z$/), lagMs: 0 });
      await submit([{ type }]);
    }

    expect(found).toEqual(ids.toReversed());
  });

  test('takes filters: type, state, tags, parent, times and text', async () => {
    const type = 'filtered';
    const [parentId] = await submit([{ type: 'parent' }]);
    const before = new Date(Date.now() - 60_000).toISOString();
    const after = new Date(Date.now() + 60_000).toISOString();
    const [a, b, c] = await submit([
      { type, tags: { size: 'big', zone: 'eu' }, input: { name: 'Änne' } },
      { type, delayMs: 3_600_000, tags: { size: 'big' } },
      { type, parentId, tags: { size: 'small' } },
    ]);

    expect(await listed(`type=${type}`)).toEqual([c, b, a]);
    expect(await listed(`type=${type}&state=waiting`)).toEqual([b]);
    expect(await listed('tag.size=big')).toEqual([b, a]);
    expect(await listed('tag.size=big&tag.zone=eu')).toEqual([a]);
    expect(await listed(`parent=${parentId}`)).toEqual([c]);
    expect(await listed(`type=${type}&q=${encodeURIComponent('Änne')}`)).toEqual([a]);
    expect(await listed(`type=${type}&since=${before}&until=${after}`)).toEqual([c, b, a]);
    expect(await listed(`type=${type}&until=${Date.now() - 60_000}`)).toEqual([]);
    expect(await listed('type=nobody-has-this')).toEqual([]);
  });

  test('ends, however many tasks left memory or do not match', async () => {
    const { body } = await api.get('/v1/tasks?type=nobody-has-this');
    expect(body).toMatchObject({ items: [], nextCursor: null });
  });

  test.each([
    ['limit=0', '/limit'],
    ['limit=1001', '/limit'],
    ['state=odd', '/state'],
    ['since=yesterday', '/since'],
    ['cursor=abc', '/cursor'],
    ['colour=red', '/colour'],
  ])('refuses %s', async (query, path) => {
    const { status, body } = await api.get(`/v1/tasks?${query}`);
    expect([status, body.error.details[0].path]).toEqual([400, path]);
  });
});

describe('many by their ids', () => {
  test('are read at once; unknown ones are listed', async () => {
    const [a, b] = await submit([{ type: 'many', input: 1 }, { type: 'many' }]);

    const { status, body } = await api.post('/v1/tasks/get', { ids: [b, 't_no', a, b] });

    expect(status).toBe(200);
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual([b, a]);
    expect(body.unknown).toEqual(['t_no']);
  });

  test.each([[{}], [{ ids: [] }], [{ ids: Array(1001).fill('t_x') }], [{ ids: 'all' }]])(
    'refuses a body that does not say which',
    async (body) => {
      const answer = await api.post('/v1/tasks/get', body);
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, '/ids']);
    },
  );
});

describe('waiting for many', () => {
  test('answers as soon as one ended, with all that ended', async () => {
    const [a, b, c] = await submit([{ type: 'wait' }, { type: 'wait' }, { type: 'wait' }]);
    const waiting = api.post('/v1/tasks/wait', { ids: [a, b, c] });
    await api.post('/v1/tasks/cancel', { ids: [b, c] });

    const { status, body } = await waiting;

    expect(status).toBe(200);
    const ended = body.items.map(({ id }: { id: string }) => id).sort();
    expect(ended).toEqual([b, c].sort());
    expect(body.items[0]).toMatchObject({ state: 'cancelled', type: 'wait' });

    const again = await api.post('/v1/tasks/wait', { ids: [a, b] });
    expect(again.body.items.map(({ id }: { id: string }) => id)).toEqual([b]);
  });

  test('answers with nothing when the time is up, and at once about an unknown id', async () => {
    const [id] = await submit([{ type: 'wait' }]);

    const none = await api.post('/v1/tasks/wait', { ids: [id], timeoutMs: 20 });
    expect(none.body).toEqual({ items: [], unknown: [] });

    const unknown = await api.post('/v1/tasks/wait', { ids: [id, 't_no'] });
    expect(unknown.body).toEqual({ items: [], unknown: ['t_no'] });
  });
});
