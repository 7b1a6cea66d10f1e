/** Where commands run and which of them may: fields of commands, flags and labels of agents. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentUnderTest } from '../support/agent-process.ts';
import { ServerWithAgent } from '../support/server-with-agent.ts';

const WAIT_MS = 60_000;

let host: ServerWithAgent;

beforeAll(async () => {
  host = await ServerWithAgent.start();
});

afterAll(() => host.close());

/** Runs a command to its end. */
async function run(exec: object, constraints: readonly string[] = []) {
  const body = { exec, constraints, retry: { maxAttempts: 2, delayMs: 1 } };
  return (await host.api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body)).body;
}

test('a command runs in the folder that it states', async () => {
  const there = await run({ command: ['pwd'], cwd: '/usr/bin' });
  const missing = await run({ command: ['pwd'], cwd: '/no/such/folder' });

  expect(await host.linesOf(there)).toEqual(['/usr/bin']);
  expect(missing).toMatchObject({ state: 'failed', attempt: 1 });
  expect(missing.error).toMatchObject({
    code: 'command_not_run',
    message: expect.stringContaining('/no/such/folder'),
  });
});

test('an agent with --program runs only those programs, by their names', async () => {
  const agent = await AgentUnderTest.start({
    url: host.url,
    workFolder: join(host.folder, 'listed'),
    flags: ['--allow-commands', '--program', 'echo', '--program', 'expr', '--label', 'list=short'],
  });
  const only = ['list == short'];

  const listed = [
    await run({ command: ['echo', 'sh'] }, only),
    await run({ command: ['expr', '1', '+', '1'] }, only),
  ];
  const others = [
    await run({ command: ['sh', '-c', 'echo no'] }, only),
    await run({ command: ['/bin/echo', 'no'] }, only),
  ];
  await agent.stop();

  expect(listed.map(({ state }) => state)).toEqual(['succeeded', 'succeeded']);
  for (const task of others) {
    expect(task).toMatchObject({ state: 'failed', attempt: 1 });
    expect(task.error.code).toBe('command_not_allowed');
    expect(task.error.message).toContain('the agent runs only echo, expr, not ');
    expect(await host.linesOf(task)).toEqual([]);
  }
});

test('a command can be kept to a host by its name', async () => {
  const here = await run({ command: ['true'] }, [`host == ${hostname()}`]);
  const { body: elsewhere } = await host.api.post('/v1/tasks', {
    exec: { command: ['true'] },
    constraints: ['host == no-such-host'],
  });
  const { body: why } = await host.api.get(`/v1/tasks/${elsewhere.id}/explain`);

  expect(here).toMatchObject({ state: 'succeeded' });
  expect(JSON.stringify(why.reasons)).toContain('host == no-such-host');
});
