import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Protocol } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const SECRET = `whsec_${'hush'.repeat(8)}`;

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

describe.each<Protocol>(['http1', 'h2c'])('over %s', (protocol) => {
  async function pushed(type: string, task: object) {
    const api = new ApiClient(server.url, protocol);
    const session = new SessionUnderTest(server.url, protocol, { types: [{ type }] });
    const { sessionId } = await session.welcomed();
    await api.post('/v1/tasks', { type, ...task });
    const close = () => {
      session.disconnect();
      api.close();
    };
    return { api, session, sessionId, task: await session.takeTask(), close };
  }

  test('a task that runs too long is asked to stop, and tried again by its policy', async () => {
    const timeouts = { runMs: 1, heartbeatMs: 600_000 };
    const retry = { delaysMs: [0], jitter: false };
    const type = `slow-${protocol}`;
    const { api, session, sessionId, task, close } = await pushed(type, { timeouts, retry });
    expect(task).toMatchObject({ runTimeoutMs: 1, heartbeatTimeoutMs: 600_000 });

    const notice = await session.takeCancel();
    expect(notice).toEqual({
      id: task.id,
      lease: task.lease,
      graceMs: 10_000,
      reason: 'run_timeout',
    });
    const { body } = await api.report(sessionId, [{ lease: task.lease, kind: 'cancelled' }]);

    expect(body).toEqual({ outcomes: ['ok'] });
    expect(await session.takeTask()).toMatchObject({ id: task.id, attempt: 2 });
    close();
  });

  test('a worker can leave the end to somebody else, and say when it began', async () => {
    const tags = { order: '17' };
    const parentId = 't_01k7f6b1oj0000000001';
    const type = `later-${protocol}`;
    const { api, sessionId, task, close } = await pushed(type, { tags, parentId });
    expect(task).toMatchObject({ tags });
    const { lease } = task;

    const { body } = await api.report(sessionId, [
      { lease, kind: 'progress', fraction: 0.5, message: 'half' },
      { lease, kind: 'later', startedAt: new Date().toISOString() },
    ]);
    const view = await api.get(`/v1/tasks/${task.id}`);
    const bad = await api.report(sessionId, [{ lease, kind: 'later', startedAt: 'yesterday' }]);

    expect(body).toEqual({ outcomes: ['ok', 'ok'] });
    expect(view.body).toMatchObject({ state: 'running', reason: 'later', tags, parentId });
    expect(view.body.attempts.at(-1).startedAt).toEqual(expect.any(String));
    expect(bad.body.error.details).toMatchObject([{ path: '/reports/0/startedAt' }]);
    close();
  });

  test('the secret of a callback is kept and never read back', async () => {
    const callback = { url: 'http://127.0.0.1:9/x', on: ['failed'], secret: SECRET };
    const type = `callback-${protocol}`;
    const { api, task, close } = await pushed(type, { callback });

    const view = await api.get(`/v1/tasks/${task.id}`);

    expect(view.body.callback).toEqual({ url: callback.url, on: ['failed'] });
    expect(JSON.stringify([view.body, task])).not.toContain('hush');
    close();
  });
});
