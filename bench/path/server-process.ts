import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildBundle } from '../../scripts/build-bundle.ts';

const CLI = join(import.meta.dirname, '../../packages/cli');

/** The flags of the `sluice` launcher, so that the server runs as it does for users. */
const NODE_FLAGS = ['--disable-proto=delete', '--max-semi-space-size=64'];

/** A real server in a separate process and folder. */
export class ServerProcess {
  url = '';
  private child: ChildProcess | undefined;
  /** Its data folder. */
  readonly folder: string;
  private readonly program: readonly string[];

  private constructor(folder: string, program: readonly string[]) {
    this.folder = folder;
    this.program = program;
  }

  /** The bundle, as users start it. */
  static async start(): Promise<ServerProcess> {
    await buildBundle();
    return ServerProcess.run([join(CLI, 'dist/current/main.js')]);
  }

  /** The sources, whose names are in profiles. */
  static startSources(nodeFlags: readonly string[] = []): Promise<ServerProcess> {
    return ServerProcess.run([...nodeFlags, join(CLI, 'src/main.ts')]);
  }

  private static async run(program: readonly string[]): Promise<ServerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const server = new ServerProcess(folder, program);
    await server.begin();
    return server;
  }

  /** Kills it, and restarts it on the same data. */
  async startAgain(): Promise<void> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await this.begin();
  }

  private async begin(): Promise<void> {
    // An agent in the server would share the commands, and the costs, of the one that is measured.
    const flags = ['--no-agent', '--port', '0', '--data', this.folder];
    const args = [...NODE_FLAGS, ...this.program, 'dev', ...flags];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, UV_THREADPOOL_SIZE: '8' },
    });
    this.child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /ready at (\S+)/.exec(line)?.[1];
      if (url === undefined) continue;
      this.url = url;
      return;
    }
    throw new Error('the server ended before it was ready');
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** CPU time since the start, user and system. */
  async cpuMs(): Promise<number> {
    const stat = await readFile(`/proc/${this.child?.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Fields 14 and 15 of proc(5), in ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async residentBytes(): Promise<number> {
    const status = await readFile(`/proc/${this.child?.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  async stop(): Promise<void> {
    this.child?.kill('SIGTERM');
    if (this.child?.exitCode === null) await once(this.child, 'exit');
    await rm(this.folder, { recursive: true, force: true });
  }
}
