/**
 * A command that only computes, on a machine where other processes keep every core busy. It runs
 * alone: other tests would take what the hog is measured by.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { waitUntil } from '../support/wait-until.ts';

const WAIT_MS = 60_000;
/** Less than half of what a neighbour has when nothing else runs. */
const SHARE = 0.25;
/** The kernel hands out a share every tenth of a second, so what a window cuts off is 1 %. */
const WINDOW_MS = 10_000;
const CONTROL_WINDOW_MS = 2000;
/** Cores of others, such as the server of the test, beside which the bounds are 10 %. */
const OTHERS_MAX = 0.15;
/** Two loops, so that one core is not its limit. */
const HOG = 'for i in 1 2; do sh -c "while :; do :; done" & done; echo up; wait';

let host: ServerWithAgent;
let neighbours: ChildProcess[];

beforeAll(async () => {
  host = await ServerWithAgent.start();
  // They end by themselves, should this process be killed.
  const script = `const end = Date.now() + ${2 * WAIT_MS}; while (Date.now() < end);`;
  neighbours = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', script], { stdio: 'ignore' }),
  );
});

afterAll(async () => {
  for (const neighbour of neighbours) {
    const closed = once(neighbour, 'close');
    neighbour.kill('SIGKILL');
    await closed;
  }
  await host.close();
});

/**
 * Cores that the hog used, counted by its control group, those that one neighbour had, those that
 * programs of others had, and the part of all cores that rested.
 */
async function measure(resources: object, windowMs: number) {
  const { agent, api } = host;
  const exec = { command: ['sh', '-c', HOG], killGraceMs: 0 };
  const { body: task } = await api.post('/v1/tasks', { exec, resources });
  await waitUntil(async () => (await host.linesOf(task)).includes('up'), {
    what: 'the hog computes',
    timeoutMs: WAIT_MS,
  });
  const [name = ''] = await agent.groups.names();
  const group = agent.groups.open(name);

  const look = async () => ({
    ...(await group.usage()),
    neighbourMs: await neighbourMs(),
    at: performance.now(),
    ...times(),
  });
  const before = await look();
  await waitUntil(() => performance.now() - before.at >= windowMs, {
    what: 'the window is over',
    timeoutMs: WAIT_MS,
  });
  const after = await look();

  await api.post(`/v1/tasks/${task.id}/cancel`, {});
  await api.get(`/v1/tasks/${task.id}/wait?timeoutMs=${WAIT_MS}`);
  const wallMs = after.at - before.at;
  const cores = (Number(after.cpuMs) - Number(before.cpuMs)) / wallMs;
  const neighbour = (after.neighbourMs - before.neighbourMs) / wallMs;
  const rested = (after.idle - before.idle) / (after.all - before.all);
  const busy = (1 - rested) * availableParallelism();
  return { cores, neighbour, rested, others: busy - cores - neighbour * neighbours.length };
}

/** Processor time of a neighbour, on average. The kernel counts it in hundredths of a second. */
async function neighbourMs(): Promise<number> {
  let ticks = 0;
  for (const { pid } of neighbours) {
    const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ');
    const [user, system] = fields.split(' ').slice(11, 13).map(Number);
    ticks += (user ?? 0) + (system ?? 0);
  }
  return (ticks * 10) / neighbours.length;
}

/** What the cores did since the machine was started. */
function times(): { readonly idle: number; readonly all: number } {
  const each = cpus().map(({ times }) => times);
  const idle = each.reduce((sum, time) => sum + time.idle, 0);
  const all = each.reduce((sum, time) => sum + time.idle + time.user + time.sys + time.nice, 0);
  return { idle, all };
}

test('a hog stays within 10 % of its share for 10 s beside busy neighbours', async () => {
  const { cores, neighbour, rested, others } = await measure({ cpu: SHARE }, WINDOW_MS);

  expect(rested).toBeLessThan(0.1);
  expect(cores).toBeLessThanOrEqual(1.1 * SHARE);
  // A limit is a ceiling. The weight of the group makes it a share where that much is to be had:
  // all commands weigh as much as one neighbour. Other programs may leave less to both of them, and
  // then the loops of the hog may be on the busier core.
  const least = others < OTHERS_MAX ? 0.9 : 0.5;
  expect(cores).toBeGreaterThanOrEqual(least * Math.min(SHARE, neighbour / 2));
});

test('without a limit the same hog uses more beside the same neighbours', async () => {
  const { cores, rested } = await measure({}, CONTROL_WINDOW_MS);

  expect(rested).toBeLessThan(0.1);
  expect(cores).toBeGreaterThan(1.1 * SHARE);
});
