import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { areRunning, descendantsOf } from '../usage.ts';
import type { Store } from './store.ts';

const READY_MS_MAX = 60_000;
const POLL_MS = 20;

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  /** Whether it serves. An open port may not be enough. */
  readonly isReady: () => Promise<boolean>;
}

/** A server of a peer: started, killed, restarted, stopped. */
class StoreProcess {
  private readonly program: Program;
  private child: ChildProcess | undefined;

  constructor(program: Program) {
    this.program = program;
  }

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  async start(): Promise<void> {
    const { command, args, options, isReady } = this.program;
    const child = spawn(command, args, { stdio: 'ignore', ...options });
    this.child = child;
    const until = performance.now() + READY_MS_MAX;
    while (!(await isReady())) {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
      if (performance.now() > until) throw new Error(`${command} does not become ready`);
      await sleep(POLL_MS);
    }
  }

  /** Kills it without warning, with all its children: they may hold what the next one needs. */
  async kill(): Promise<void> {
    // Stopped first, so that it cannot start more children.
    send(this.pid, 'SIGSTOP');
    const pids = await descendantsOf(this.pid);
    await this.end(pids, 'SIGKILL');
    while (await areRunning(pids)) await sleep(POLL_MS);
  }

  private async end(pids: readonly number[], signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    for (const pid of pids) send(pid, signal);
    await ended;
  }
}

/** A store that is one server process with a separate folder. */
export async function openStore(
  program: Program,
  { address, folder }: { readonly address: string; readonly folder: string },
): Promise<Store> {
  const server = new StoreProcess(program);
  await server.start();
  return {
    address,
    get pid() {
      return server.pid;
    },
    killAndStart: async () => {
      await server.kill();
      await server.start();
    },
    stop: async () => {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  // A signal to pid 0 would reach this process and its whole group.
  if (pid === 0) return;
  try {
    process.kill(pid, signal);
  } catch (cause) {
    // It may have ended by itself meanwhile.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
}

/** Whether a process listens on the port. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
