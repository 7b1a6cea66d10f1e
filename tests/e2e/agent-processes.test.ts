/** What the processes of commands show to others, that they end, and what they use. */
import { statfsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { waitUntil } from '../support/wait-until.ts';

const WAIT_MS = 60_000;
const MIB = 2 ** 20;
/** The type of file systems in memory, where nothing reaches a disk. */
const TMPFS = 0x0102_1994;

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

async function isRunning(mark: string): Promise<boolean> {
  return (await titles()).some((title) => title.includes(mark));
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

test('a command that takes too long and ignores SIGTERM is killed', async () => {
  const script = 'trap "" TERM; echo up; while :; do sleep 971.5; done';
  const exec = { command: ['sh', '-c', script], killGraceMs: 100 };
  // On a busy machine a program may need longer to start than it may run.
  for (let runMs = 500; ; runMs *= 2) {
    const timeouts = { runMs };
    const body = { exec, timeouts, retry: { maxAttempts: 1 } };
    const { body: ended } = await host.api.post(`/v1/tasks?waitMs=${WAIT_MS}`, body);

    expect(ended).toMatchObject({ state: 'timed_out', attempt: 1 });
    await waitUntil(async () => !(await isRunning('971.5')), {
      what: 'the program is gone',
      timeoutMs: WAIT_MS,
    });
    if ((await host.linesOf(ended)).includes('up')) break;
  }
  expect(await host.agent.groups.names()).toEqual([]);
});

test('a command that takes too long has its grace, also when no server answers', async () => {
  const shared = join(host.folder, 'shared');
  await mkdir(shared);
  await chmod(shared, 0o777);
  const there = async (name: string) => (await readdir(shared)).includes(name);
  const cleanUp = 'touch "$SHARED/asked"; sleep 0.3; touch "$SHARED/cleaned"; exit 3';
  const script = `trap '${cleanUp}' TERM; touch "$SHARED/up"; while :; do sleep 0.1; done`;
  const { body: task } = await host.api.post('/v1/tasks', {
    exec: { command: ['sh', '-c', script], env: { SHARED: shared } },
    retry: { maxAttempts: 1 },
    timeouts: { runMs: 3000 },
  });

  await waitUntil(() => there('up'), { what: 'the program runs', timeoutMs: WAIT_MS });
  host.signalServer('SIGSTOP');
  try {
    await waitUntil(() => there('cleaned'), { what: 'it has cleaned up', timeoutMs: WAIT_MS });
  } finally {
    host.signalServer('SIGCONT');
  }

  const { body: ended } = await host.api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  expect(ended).toMatchObject({ state: 'timed_out', attempt: 1 });
});

test.skipIf(statfsSync(tmpdir()).type === TMPFS)(
  'what a command reads from a disk and writes to it is recorded',
  async () => {
    const dd = 'dd bs=1M count=8 status=none';
    const script = `${dd} if=/dev/zero of=a oflag=direct; (${dd} if=a of=/dev/null iflag=direct)`;
    const { body: task } = await host.api.post(`/v1/tasks?waitMs=${WAIT_MS}`, {
      exec: { command: ['sh', '-c', script] },
      retry: { maxAttempts: 1 },
    });
    expect(task).toMatchObject({ state: 'succeeded' });

    const { body } = await host.api.get(`/v1/tasks/${task.id}`);
    const [{ usage }] = body.attempts;
    expect(usage.writtenBytes).toBeGreaterThanOrEqual(8 * MIB);
    expect(usage.readBytes).toBeGreaterThanOrEqual(8 * MIB);
    expect(usage.writtenBytes).toBeLessThan(16 * MIB);
  },
);
