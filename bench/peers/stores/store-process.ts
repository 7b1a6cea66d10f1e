import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../usage.ts';

const READY_MS_MAX = 60_000;
const POLL_MS = 20;

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  /** Whether it serves; a port that is open may not be enough. */
  readonly isReady: () => Promise<boolean>;
}

/** A server of a peer: started, killed, started again, stopped. */
export class StoreProcess {
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

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // With those that it started: they may keep what the next one needs.
    const all = signal === 'SIGKILL' ? await descendantsOf(this.pid) : [this.pid];
    for (const pid of all) kill(pid, signal);
    await ended;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (cause) {
    // It may have ended by itself meanwhile.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause;
  }
}

/** Whether somebody listens at the port. */
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
