/** What the processes of commands show to others. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { waitUntil } from '../support/wait-until.ts';

const WAIT_MS = 60_000;

let host: ServerWithAgent;

beforeAll(async () => {
  host = await ServerWithAgent.start();
});

afterAll(() => host.close());

/** Titles of all processes of this machine. */
async function titles(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')));
}

test('a secret is in no title of a process, from the start of its command to the end', async () => {
  const secret = 'hunter2-of-the-titles';
  const script = 'echo "${#TOKEN}"; while :; do sleep 0.1984; done';
  const { body: task } = await host.api.post('/v1/tasks', {
    exec: { command: ['sh', '-c', script], env: { TOKEN: { secret } } },
    retry: { maxAttempts: 1 },
  });
  const seen = new Set<string>();
  const look = async () => {
    for (const title of await titles()) seen.add(title);
  };
  const isWaiting = async () => {
    await look();
    return seen.has(['sleep', '0.1984', ''].join('\0'));
  };
  const isOver = async () => {
    await look();
    return (await host.api.get(`/v1/tasks/${task.id}`)).body.state === 'cancelled';
  };

  await waitUntil(isWaiting, { what: 'the program waits', timeoutMs: WAIT_MS });
  await host.api.post(`/v1/tasks/${task.id}/cancel`, {});
  await waitUntil(isOver, { what: 'the command is cancelled', timeoutMs: WAIT_MS });

  expect(await host.linesOf(task)).toContain(String(secret.length));
  expect([...seen].filter((title) => title.includes(secret))).toEqual([]);
});
