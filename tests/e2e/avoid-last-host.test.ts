/** Two agents: what failed on one is tried by the other first. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Agent } from '../../packages/agent/src/agent.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
const agents: Agent[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-hosts-'));
  // The user of the commands passes through it.
  await chmod(folder, 0o711);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  for (const name of ['one', 'two']) {
    agents.push(
      await Agent.start({
        url: server.url,
        name,
        workFolder: join(folder, name),
        handleSignals: false,
        onNotice: () => undefined,
      }),
    );
  }
});

afterAll(async () => {
  for (const agent of agents) await agent.stop(0);
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

const failing = { command: ['false'], avoidLastHost: true };
const retry = { maxAttempts: 3, backoff: 'fixed', delayMs: 50, jitter: false };

interface Attempt {
  readonly attempt: number;
  readonly worker: string;
  readonly outcome: string;
}

async function attemptsOf(body: object): Promise<Attempt[]> {
  const { body: task } = await api.post('/v1/tasks?waitMs=60000', body);
  expect(task.state).toBe('failed');
  const { body: whole } = await api.get(`/v1/tasks/${task.id}`);
  return whole.attempts;
}

test('attempts alternate between the hosts, and handing back costs none', async () => {
  const attempts = await attemptsOf({ exec: failing, retry });

  const failed = attempts.filter(({ outcome }) => outcome === 'failed');
  const [first, second, third] = failed.map(({ worker }) => worker);
  expect(failed.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(second).not.toBe(first);
  expect(third).not.toBe(second);
});

test('without another host the task runs where it failed, after a while', async () => {
  const constraints = ['agent == only'];
  const only = await Agent.start({
    url: server.url,
    name: 'only',
    labels: { agent: 'only' },
    workFolder: join(folder, 'only'),
    handleSignals: false,
    onNotice: () => undefined,
  });
  agents.push(only);

  const attempts = await attemptsOf({
    exec: failing,
    constraints,
    retry: { ...retry, maxAttempts: 2 },
  });

  const failed = attempts.filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ worker }) => worker)).toEqual(['only', 'only']);
});
