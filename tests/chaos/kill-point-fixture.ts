import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectHttp, type HttpClient } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openWorkerStream, type PushedTask, type Welcome } from '../support/worker-client.ts';

const DYING_SERVER = fileURLToPath(new URL('./dying-server.ts', import.meta.url));
const EVENT_MS_MAX = 20_000;

export interface Running {
  readonly server: ServerProcess;
  readonly http: HttpClient;
}

/** One data folder and the servers that ran on it. `dispose` ends all of them. */
export class KilledServers {
  private readonly folder: string;
  private readonly all: Running[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<KilledServers> {
    return new KilledServers(await mkdtemp(join(tmpdir(), 'sluice-kill-point-')));
  }

  async start(): Promise<Running> {
    return this.keep(await ServerProcess.startDev(this.folder));
  }

  /** Starts a server that can be armed. */
  async startDying(): Promise<Running> {
    const args = [DYING_SERVER, this.folder];
    return this.keep(await ServerProcess.start({ command: process.execPath, args }));
  }

  async dispose(): Promise<void> {
    for (const { http, server } of this.all) {
      http.close();
      await server.kill();
    }
    await rm(this.folder, { recursive: true, force: true });
  }

  private keep(server: ServerProcess): Running {
    const running = { server, http: connectHttp('http1', server.url) };
    this.all.push(running);
    return running;
  }
}

/** Arms the server: it dies right after its next commit, before it releases anything. */
export async function arm(server: ServerProcess): Promise<void> {
  server.signal('SIGUSR2');
  await server.printed(/^armed$/m);
}

/** A worker for the type `hello` that remembers what it received. */
export class Worker {
  readonly welcomes: Welcome[] = [];
  readonly pushed: PushedTask[] = [];
  /** Resolves when the stream broke. */
  readonly closed: Promise<void>;

  constructor(http: HttpClient, resume?: { sessionId: string; running: readonly string[] }) {
    const request = { name: 'worker', types: [{ type: 'hello' }] };
    const body = resume === undefined ? request : { ...request, resume };
    const listener = {
      onWelcome: (welcome: Welcome) => this.welcomes.push(welcome),
      onTasks: (tasks: readonly PushedTask[]) => this.pushed.push(...tasks),
    };
    this.closed = openWorkerStream(http, body, listener).closed;
  }

  async welcome(): Promise<Welcome> {
    const isWelcome = (): boolean => this.welcomes.length > 0;
    await waitUntil(isWelcome, { what: 'the worker is welcome', timeoutMs: EVENT_MS_MAX });
    return this.welcomes[0];
  }

  /** All tasks that were pushed so far, once there is at least one. */
  async pushes(): Promise<readonly PushedTask[]> {
    const isPushed = (): boolean => this.pushed.length > 0;
    await waitUntil(isPushed, { what: 'a task is pushed', timeoutMs: EVENT_MS_MAX });
    return this.pushed;
  }
}

/** Submits a task of the type `hello` and returns its id. */
export async function submit(http: HttpClient, input: string): Promise<string> {
  const body = { type: 'hello', input };
  const { status, text } = await http.send({ method: 'POST', path: '/v1/tasks', body });
  if (status !== 201) throw new Error(`the submit was answered with ${status}: ${text}`);
  return (JSON.parse(text) as { id: string }).id;
}
