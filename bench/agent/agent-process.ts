import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ServerProcess } from '../path/server-process.ts';

const LAUNCHER = resolve(import.meta.dirname, '../../packages/cli/bin/sluice');

/** A server, and an agent beside it as people start one. */
export class AgentProcess {
  readonly url: string;
  private readonly server: ServerProcess;
  private readonly child: ChildProcess;
  private readonly folder: string;

  private constructor(server: ServerProcess, child: ChildProcess, folder: string) {
    this.url = server.url;
    this.server = server;
    this.child = child;
    this.folder = folder;
  }

  static async start(...flags: string[]): Promise<AgentProcess> {
    const server = await ServerProcess.start();
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-agent-'));
    await chmod(folder, 0o711);
    const args = ['agent', '--url', server.url, '--work-dir', join(folder, 'work'), ...flags];
    // The launcher becomes the agent, so its pid is that of the agent.
    const child = spawn(LAUNCHER, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    for await (const bytes of child.stdout) {
      said += String(bytes);
      if (said.includes('agent ready')) break;
    }
    return new AgentProcess(server, child, folder);
  }

  /** CPU time of the agent itself, without its children. */
  async cpuMs(): Promise<number> {
    const stat = await readFile(`/proc/${this.child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  async residentMib(): Promise<number> {
    const status = await readFile(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exited;
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
