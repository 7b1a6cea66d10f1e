/** A server process and an agent that runs commands beside it, in a folder that goes with them. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../../packages/agent/src/agent.ts';
import { ApiClient } from '../e2e/api-client.ts';
import { ServerProcess } from './server-process.ts';

export class ServerWithAgent {
  readonly folder: string;
  readonly api: ApiClient;
  private process: ServerProcess;
  readonly agent: Agent;

  private constructor(folder: string, server: ServerProcess, agent: Agent) {
    this.folder = folder;
    this.process = server;
    this.api = new ApiClient(server.url, 'http1');
    this.agent = agent;
  }

  static async start(): Promise<ServerWithAgent> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-commands-'));
    // The user of the commands passes through it.
    await chmod(folder, 0o711);
    const server = await ServerProcess.startServer(join(folder, 'data'));
    const agent = await Agent.start({
      url: server.url,
      workFolder: join(folder, 'work'),
      handleSignals: false,
      onNotice: () => undefined,
    });
    return new ServerWithAgent(folder, server, agent);
  }

  get url(): string {
    return this.process.url;
  }

  /** What a task has printed so far. */
  async linesOf({ id }: { readonly id: string }): Promise<string[]> {
    const { body } = await this.api.get(`/v1/tasks/${id}/logs?limit=10000`);
    return body.items.map(({ line }: { line: string }) => line);
  }

  /** SIGSTOP lets it answer nothing until SIGCONT. */
  signalServer(signal: NodeJS.Signals): void {
    this.process.signal(signal);
  }

  /** Kills the server, and starts it again on the same port. */
  async restartServer(): Promise<void> {
    const { port } = new URL(this.url);
    await this.process.kill();
    this.process = await ServerProcess.startServer(join(this.folder, 'data'), '--port', port);
  }

  async close(): Promise<void> {
    await this.agent.stop(0);
    this.api.close();
    await this.process.kill();
    await rm(this.folder, { recursive: true });
  }
}
