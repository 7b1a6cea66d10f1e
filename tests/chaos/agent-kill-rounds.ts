/**
 * Kills an agent, its container engine and its server in turn, under load. It needs root, and the
 * packages docker.io and busybox-static.
 *
 *   node tests/chaos/agent-kill-rounds.ts --rounds 6 --tasks 60 --longest 20
 *
 * Each program notes all the time that it runs, so two that run at the same time for one task are
 * seen, and notes its end. Programs run from a fifth of a second to `--longest` seconds, so that
 * some outlive several kills. Prints what is wrong, and how many violations there are.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ApiClient } from '../e2e/api-client.ts';
import { AgentUnderTest } from '../support/agent-process.ts';
import { packBusybox } from '../support/container-image.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { judgeLedger } from './agent-verdict.ts';

const WAIT_MS = 180_000;
const IMAGE = 'busybox:chaos';

/** Says who it is again and again. Ledger lines are short, so each is written at once. */
const PROGRAM = `
read -r me < /proc/sys/kernel/random/uuid
beat=0
while [ $beat -lt "$BEATS" ]; do
  beat=$((beat + 1))
  echo "beat $SLUICE_TASK_ID $me" >> "$LEDGER/ledger"
  sleep 0.05
done
echo "end $SLUICE_TASK_ID $me" >> "$LEDGER/ledger"
`;

export interface Chaos {
  readonly rounds: number;
  readonly tasks: number;
  /** Seconds that the longest programs take. */
  readonly longest: number;
}

const BEATS_PER_S = 20;

class AgentKills {
  private readonly folder: string;
  private readonly engine: DockerEngine;
  private server: ServerProcess;
  private agent: AgentUnderTest;

  private constructor(
    folder: string,
    engine: DockerEngine,
    server: ServerProcess,
    agent: AgentUnderTest,
  ) {
    this.folder = folder;
    this.engine = engine;
    this.server = server;
    this.agent = agent;
  }

  static async start(): Promise<AgentKills> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-agent-kills-'));
    await mkdir(join(folder, 'shared'));
    await writeFile(join(folder, 'shared/ledger'), '');
    for (const path of ['', 'shared', 'shared/ledger']) await chmod(join(folder, path), 0o777);
    const engine = await DockerEngine.start(join(folder, 'engine'));
    await engine.run('import', await packBusybox(folder), IMAGE);
    const server = await ServerProcess.startServer(join(folder, 'data'));
    const agent = await startAgent(folder, engine, server.url);
    return new AgentKills(folder, engine, server, agent);
  }

  get ledger(): Promise<string> {
    return readFile(join(this.folder, 'shared/ledger'), 'utf8');
  }

  /** Commands and containers, all of them acknowledged. */
  async submit({ tasks: count, longest }: Chaos): Promise<string[]> {
    const shared = join(this.folder, 'shared');
    const command = (BEATS: string) => {
      return { command: ['sh', '-c', PROGRAM], env: { LEDGER: shared, BEATS } };
    };
    const container = (BEATS: string) => ({
      image: IMAGE,
      args: ['sh', '-c', PROGRAM],
      env: { LEDGER: '/shared', BEATS },
      volumes: [{ source: shared, target: '/shared' }],
    });
    const seconds = [longest, 0.2, 0.4, longest / 4];
    const retry = { maxAttempts: 20, delayMs: 50, backoff: 'fixed' };
    const tasks = Array.from({ length: count }, (_, n) => {
      const make = n % 3 === 2 ? container : command;
      const length = seconds[Math.floor(n / 3) % seconds.length] ?? longest;
      return { exec: make(String(Math.ceil(length * BEATS_PER_S))), retry };
    });
    const api = new ApiClient(this.server.url, 'http1');
    const { body } = await api.post('/v1/tasks', tasks);
    api.close();
    return body.items.map(({ id }: { id: string }) => id);
  }

  /** After some work was done, so that every kill meets some that runs. */
  async kill(round: number): Promise<void> {
    const before = (await this.ledger).length;
    await waitUntil(async () => (await this.ledger).length > before, {
      what: 'something is done',
      timeoutMs: WAIT_MS,
    });
    if (round % 3 === 0) await this.killAgent();
    if (round % 3 === 1) await this.killEngine();
    if (round % 3 === 2) await this.killServer();
  }

  private async killAgent(): Promise<void> {
    await this.agent.kill();
    this.agent = await startAgent(this.folder, this.engine, this.server.url);
  }

  private async killEngine(): Promise<void> {
    await this.engine.kill();
    await this.engine.startAgain();
  }

  private async killServer(): Promise<void> {
    const { port } = new URL(this.server.url);
    await this.server.kill();
    this.server = await ServerProcess.startServer(join(this.folder, 'data'), '--port', port);
  }

  /** States of the tasks when all of them have ended. */
  async ended(ids: readonly string[]): Promise<Map<string, string>> {
    const api = new ApiClient(this.server.url, 'http1');
    const states = new Map<string, string>();
    for (const id of ids) {
      let body = { state: '' };
      const isOver = async () => {
        ({ body } = await api.get(`/v1/tasks/${id}/wait?timeoutMs=30000`));
        return ['succeeded', 'failed', 'cancelled', 'timed_out'].includes(body.state);
      };
      await waitUntil(isOver, { what: `${id} has ended`, timeoutMs: WAIT_MS });
      states.set(id, body.state);
    }
    api.close();
    return states;
  }

  /** What is left on the host, after the agent had time to remove it. */
  async left(): Promise<string[]> {
    let left: string[] = [];
    const look = async () => {
      const containers = await this.engine.run('ps', '--all', '--quiet');
      const folders = (await readdir(join(this.folder, 'work'))).filter((name) => /^t_/.test(name));
      left = [...folders, ...containers.split('\n').filter(Boolean)];
      return left.length === 0;
    };
    await waitUntil(look, { what: 'nothing is left', timeoutMs: 20_000 }).catch(() => undefined);
    return left;
  }

  async stop(): Promise<void> {
    await this.agent.stop();
    await this.server.kill();
    await this.engine.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function startAgent(folder: string, engine: DockerEngine, url: string): Promise<AgentUnderTest> {
  return AgentUnderTest.start({
    url,
    workFolder: join(folder, 'work'),
    flags: [
      '--allow-commands',
      '--allow-containers',
      ...['--engine-socket', engine.socket],
      ...['--network', 'none', '--slots', '6'],
      ...['--allow-mount', join(folder, 'shared')],
    ],
  });
}

/** Returns what is wrong. */
async function runChaos(chaos: Chaos): Promise<string[]> {
  const world = await AgentKills.start();
  try {
    const ids = await world.submit(chaos);
    for (let round = 0; round < chaos.rounds; round++) await world.kill(round);
    const states = await world.ended(ids);
    const left = await world.left();
    return [
      ...judgeLedger(await world.ledger, states),
      ...left.map((name) => `${name} was left behind`),
    ];
  } finally {
    await world.stop();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    rounds: { type: 'string', default: '3' },
    tasks: { type: 'string', default: '24' },
    longest: { type: 'string', default: '6' },
  } as const;
  const { values } = parseArgs({ options });
  const chaos = {
    rounds: Number(values.rounds),
    tasks: Number(values.tasks),
    longest: Number(values.longest),
  };
  const problems = await runChaos(chaos);
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${chaos.tasks} tasks, ${chaos.rounds} kills\n`);
  process.stdout.write(`\n${problems.length} violations\n`);
}
