import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { packBusybox } from '../../tests/support/container-image.ts';
import { DockerEngine } from '../../tests/support/docker-engine.ts';
import type { ServerRow } from '../measured-rows.ts';
import { AgentProcess } from './agent-process.ts';

const execute = promisify(execFile);

const CORES = availableParallelism();
const IDLE_MS = 10_000;
const MB = 1e6;
const IMAGE = 'busybox:bench';

type Figures = Readonly<Record<string, number>>;

async function withAgent(
  flags: readonly string[],
  run: (agent: AgentProcess) => Promise<Figures>,
): Promise<Figures> {
  const agent = await AgentProcess.start(...flags);
  try {
    return await run(agent);
  } finally {
    await agent.stop();
  }
}

async function call<T>(url: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** Seconds until `count` tasks have all succeeded. */
async function secondsFor(url: string, count: number, exec: object): Promise<number> {
  const startedAt = performance.now();
  const open = new Set<string>();
  for (let from = 0; from < count; from += 1000) {
    const tasks = Array(Math.min(1000, count - from)).fill({ exec, retry: { maxAttempts: 1 } });
    const { items } = await call<{ items: { id: string }[] }>(`${url}/v1/tasks`, tasks);
    for (const { id } of items) open.add(id);
  }
  while (open.size > 0) {
    const ids = [...open].slice(0, 1000);
    const { items } = await call<{ items: { id: string; state: string }[] }>(
      `${url}/v1/tasks/wait`,
      { ids, timeoutMs: 30_000 },
    );
    for (const { id, state } of items) {
      if (state !== 'succeeded') throw new Error(`${id} is ${state}`);
      open.delete(id);
    }
  }
  return (performance.now() - startedAt) / 1000;
}

async function secondsOf(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await act();
  return (performance.now() - startedAt) / 1000;
}

function byShell(script: string): Promise<unknown> {
  return execute('sh', ['-c', script], { maxBuffer: 64 * MB });
}

function commands(share: number): Promise<Figures> {
  const count = Math.ceil(5000 * share);
  return withAgent(['--allow-commands', '--slots', String(4 * CORES)], async ({ url }) => {
    const seconds = await secondsFor(url, count, { command: ['/bin/true'] });
    const list = `seq ${count}`;
    const parallel = await secondsOf(() => byShell(`${list} | parallel -n 1 /bin/true`));
    const xargs = await secondsOf(() => byShell(`${list} | xargs -n 1 -P ${CORES} /bin/true`));
    return {
      perSec: count / seconds,
      parallelPerSec: count / parallel,
      xargsPerSec: count / xargs,
      shareOfParallel: parallel / seconds,
    };
  });
}

function overhead(share: number): Promise<Figures> {
  const count = Math.ceil(1000 * share);
  return withAgent(['--allow-commands', '--slots', '1'], async (agent) => {
    await secondsFor(agent.url, 20, { command: ['/bin/true'] });
    const before = await agent.cpuMs();
    const seconds = await secondsFor(agent.url, count, { command: ['/bin/true'] });
    const cpuMs = (await agent.cpuMs()) - before;
    return { wallMsEach: (seconds * 1000) / count, agentCpuMsEach: cpuMs / count };
  });
}

function output(share: number): Promise<Figures> {
  const bytes = Math.ceil(2000 * share) * MB;
  return withAgent(['--allow-commands'], async (agent) => {
    const script = `yes 'a line of output that is about as long as lines are' | head -c ${bytes}`;
    const seconds = await secondsFor(agent.url, 1, { command: ['sh', '-c', script] });
    return { mbPerSec: bytes / MB / seconds };
  });
}

function idle(): Promise<Figures> {
  return withAgent(['--allow-commands'], async (agent) => {
    const before = await agent.cpuMs();
    await sleep(IDLE_MS);
    const cpuPercent = ((await agent.cpuMs()) - before) / (IDLE_MS / 100);
    return { residentMib: await agent.residentMib(), cpuPercent };
  });
}

async function containers(share: number): Promise<Figures> {
  const count = Math.ceil(200 * share);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-engine-'));
  const engine = await DockerEngine.start(join(folder, 'engine'));
  try {
    await engine.run('import', await packBusybox(folder), IMAGE);
    const atOnce = 2 * CORES;
    const flags = ['--allow-containers', '--engine-socket', engine.socket, '--network', 'none'];
    return await withAgent([...flags, '--slots', String(atOnce)], async (agent) => {
      const seconds = await secondsFor(agent.url, count, { image: IMAGE, args: ['true'] });
      const run = `docker -H unix://${engine.socket} run --rm --network none ${IMAGE} true`;
      const byHand = await secondsOf(() => {
        return byShell(`seq ${count} | xargs -I{} -P ${atOnce} ${run}`);
      });
      return {
        perSec: count / seconds,
        dockerRunPerSec: count / byHand,
        shareOfDockerRun: byHand / seconds,
      };
    });
  } finally {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

export const ROWS: Readonly<Record<string, ServerRow>> = {
  commands: { run: commands, targets: { shareOfParallel: 'at least 0.5' } },
  overhead: { run: overhead, targets: {} },
  output: { run: output, targets: { mbPerSec: 'at least 100' } },
  idle: { run: idle, targets: { residentMib: 'under 80' } },
  containers: { run: containers, targets: { shareOfDockerRun: 'at least 1' } },
};
