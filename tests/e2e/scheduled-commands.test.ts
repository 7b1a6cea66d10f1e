/** Schedules whose tasks are commands, run by an agent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { runSluice } from '../support/sluice-command.ts';
import type { ApiClient } from './api-client.ts';

let host: ServerWithAgent;
let api: ApiClient;

beforeAll(async () => {
  host = await ServerWithAgent.start();
  api = host.api;
});

afterAll(() => host.close());

/** Fires a schedule and waits for the end of its task. */
async function fire(id: string) {
  const { body: fired } = await api.post(`/v1/schedules/${id}/trigger`, {});
  const { body: task } = await api.get(`/v1/tasks/${fired.taskId}/wait?timeoutMs=60000`);
  const { body: logs } = await api.get(`/v1/tasks/${fired.taskId}/logs`);
  return { task, lines: logs.items.map(({ line }: { line: string }) => line) };
}

const typed = (args: readonly string[]) => runSluice(args, { SLUICE_URL: host.url });

const DAILY = { cron: '0 3 * * *' };

test('a schedule runs a command, with its times in the arguments', async () => {
  const exec = { command: ['printf', '%s|', '{{scheduleId}}', '{{fireNumber}}', '{{x}}'] };
  await api.put('/v1/schedules/nightly', { spec: DAILY, task: { exec, input: { a: 1 } } });

  const { task, lines } = await fire('nightly');

  expect(task).toMatchObject({ state: 'succeeded', type: 'command', input: { a: 1 } });
  expect(lines).toEqual(['nightly|1|{{x}}|']);
});

test('a schedule of commands shows exec without its secrets, and a patch keeps them', async () => {
  const exec = { command: ['sh', '-c', 'test "$PIN" = 1234 && echo right'] };
  const env = { PIN: { secret: '1234' }, LANG: 'C' };
  const task = { exec: { ...exec, env }, priority: 7 };
  await api.put('/v1/schedules/secret', { spec: DAILY, task });

  const { body: patched } = await api.patch('/v1/schedules/secret', { task: { priority: 3 } });
  const { body: again } = await api.put('/v1/schedules/secret?dryRun=true', {
    spec: DAILY,
    task: { ...task, priority: 3 },
  });

  const shown = { ...exec, env: { PIN: { secret: '***' }, LANG: 'C' } };
  expect(patched.task).toEqual({ type: 'command', priority: 3, exec: shown });
  expect(again.change).toBe('unchanged');
  expect((await fire('secret')).lines).toEqual(['right']);
  for (const path of ['/v1/schedules/secret', '/v1/schedules']) {
    const { body } = await api.get(path);
    expect(JSON.stringify(body)).toContain('***');
    expect(JSON.stringify(body)).not.toContain('1234"}');
  }
});

test('a wrong command of a schedule is refused by its place', async () => {
  const put = async (task: object) => {
    const { body } = await api.put('/v1/schedules/wrong', { spec: DAILY, task });
    return body.error.details.map(({ path }: { path: string }) => path);
  };

  const blob = { blob: 'a'.repeat(64) };
  expect(await put({ exec: { command: [] } })).toEqual(['/task/exec/command']);
  expect(await put({ type: 'report', exec: { command: ['true'] } })).toEqual(['/task/type']);
  expect(await put({ type: 'command' })).toEqual(['/task/type']);
  expect(await put({ exec: { command: ['true'], files: { a: blob } } })).toEqual([
    '/task/exec/files/a',
  ]);
});

test('the command line puts a schedule of a command and shows it', async () => {
  const flags = ['--cron', '@daily', '--memory', '64m'];
  const put = await typed(['schedule', 'put', 'typed', ...flags, '--', 'echo', '-n', 'hi']);
  const both = await typed(['schedule', 'put', 'b', '--cron', '@daily', '--type', 'a', 'echo']);
  const got = await typed(['schedule', 'get', 'typed', '--json']);

  expect(put.stdout).toContain('created typed: command echo -n hi');
  expect(both.stderr).toContain('--type and a command exclude each other');
  expect(JSON.parse(got.stdout).task).toMatchObject({
    exec: { command: ['echo', '-n', 'hi'] },
    resources: { memoryMb: 64 },
  });
});

test('a restarted server goes on with schedules of commands', async () => {
  const exec = { command: ['echo', 'still here'] };
  await api.put('/v1/schedules/kept', { spec: DAILY, task: { exec } });
  const { body: before } = await api.get('/v1/schedules/kept');

  await host.restartServer();

  const { body: after } = await api.get('/v1/schedules/kept');
  expect(after).toEqual(before);
  expect((await fire('kept')).lines).toEqual(['still here']);
});
