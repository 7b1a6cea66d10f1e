import { beforeEach, describe, expect, test } from 'vitest';
import { Sluice } from '../node/sluice.ts';
import { HttpStub, refused, type StubAnswer, type StubRequest } from '../testing/http-stub.ts';

const server = new HttpStub();
let sluice: Sluice;

beforeEach(async () => {
  server.requests.length = 0;
  if (server.url === '') await server.start();
  sluice = new Sluice({ url: server.url });
  return () => sluice.close();
});

/** Loses the first answer, and then answers like this. */
function losing(answer: StubAnswer) {
  return (request: StubRequest): StubAnswer => {
    if (server.requests.length > 1) return answer;
    request.drop();
    return undefined;
  };
}

function paths(): string[] {
  return server.requests.map(({ method, path }) => `${method} ${path}`);
}

test('conditions and ids are spelled so that the server reads them', async () => {
  server.answer = () => ({ body: { items: [], nextCursor: null } });
  const since = new Date(0);

  await sluice.tasks.page({ type: 'a', tags: { 'b&c': 'd e' }, since, text: '1=1', limit: 5 });
  await sluice.tasks.page({ parentId: 't_1', until: 7 });
  await sluice.queues.pause('a:b');
  await sluice.deadLetters.page({ type: 'a' });
  await sluice.tasks.logs('t/1', { attempt: 2 });

  expect(paths()).toEqual([
    'GET /v1/tasks?type=a&since=1970-01-01T00%3A00%3A00.000Z&limit=5&q=1%3D1&tag.b%26c=d+e',
    'GET /v1/tasks?until=7&parent=t_1',
    'PATCH /v1/queues/a%3Ab',
    'GET /v1/dead-letters?type=a',
    'GET /v1/tasks/t%2F1/logs?attempt=2',
  ]);
});

test('many are read in parts, and what did not fit is asked for again', async () => {
  server.answer = ({ body: { ids } }) => {
    const items = ids.slice(0, 900).map((id: string) => ({ id }));
    return { body: { items, unknown: [], notIncluded: ids.slice(900) } };
  };
  const ids = Array.from({ length: 2500 }, (_, n) => `t_${n}`);

  const { items } = await sluice.tasks.getMany([...ids, ...ids]);

  expect(items.map(({ id }) => id).sort()).toEqual(ids.toSorted());
  expect(Math.max(...server.requests.map(({ body }) => body.ids.length))).toBe(1000);
});

test('a retry has the new input, if there is one, or names its blob', async () => {
  const uploads: string[] = [];
  server.answer = ({ method, path }) => {
    if (method === 'PUT') uploads.push(path);
    return { body: { id: 't_1', state: 'queued', sha256: path.split('/').at(-1), bytes: 1 } };
  };

  await sluice.tasks.retry('t_1');
  await sluice.tasks.retry('t_1', { input: null });
  await sluice.tasks.retry('t_1', { input: 'x'.repeat(300_000) });

  const retries = server.requests.filter(({ method }) => method === 'POST');
  const hash = uploads[0].split('/').at(-1);
  expect(retries.map(({ body }) => body)).toEqual([
    undefined,
    { input: null },
    { inputBlob: hash },
  ]);
});

describe('when an answer is lost', () => {
  test('a retry that had its effect shows the task', async () => {
    const task = { id: 't_1', state: 'queued' };
    server.answer = (request) => {
      if (request.method === 'GET') return { body: task };
      return losing(refused(409, 'task_not_finished'))(request);
    };

    expect(await sluice.tasks.retry('t_1')).toEqual(task);
    expect(paths()).toEqual([
      'POST /v1/tasks/t_1/retry',
      'POST /v1/tasks/t_1/retry',
      'GET /v1/tasks/t_1',
    ]);
  });

  test('a retry that is refused at once is an error', async () => {
    server.answer = () => refused(409, 'task_not_finished');

    await expect(sluice.tasks.retry('t_1')).rejects.toMatchObject({ code: 'task_not_finished' });
  });

  test('a key that is gone was revoked, and a redrive that is gone was stopped', async () => {
    server.answer = losing(refused(404, 'key_not_found'));
    await sluice.keys.revoke('k_1');
    server.requests.length = 0;
    server.answer = losing(refused(404, 'redrive_not_found'));
    await sluice.deadLetters.stopRedrive('d_1');

    expect(paths()).toHaveLength(2);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a key', () => sluice.keys.create({ role: 'viewer' })],
    ['a redrive', () => sluice.deadLetters.redrive()],
  ])('%s is not made twice', async (_, make) => {
    server.answer = losing({ body: {} });

    await expect(make()).rejects.toMatchObject({ code: 'no_answer' });

    expect(server.requests).toHaveLength(1);
  });
});

test('the pages of a list are read one after the other, as far as they are needed', async () => {
  server.answer = ({ path }) => {
    const page = Number(new URL(path, server.url).searchParams.get('cursor') ?? 0);
    return { body: { items: [{ id: `k_${page}` }], nextCursor: `${page + 1}` } };
  };

  const seen: string[] = [];
  for await (const { id } of sluice.keys.list()) {
    seen.push(id);
    if (seen.length === 3) break;
  }

  expect(seen).toEqual(['k_0', 'k_1', 'k_2']);
  expect(server.requests).toHaveLength(3);
});

test('a proxy that answers with a page is not taken for a server', async () => {
  server.answer = (request) => {
    request.response.end('<html>');
    return undefined;
  };

  await expect(sluice.tasks.page()).rejects.toThrow('not from a Sluice server');
});

test('a client that is closed follows nothing', async () => {
  await sluice.close();

  await expect(sluice.events().opened).rejects.toMatchObject({ code: 'closed' });
});
