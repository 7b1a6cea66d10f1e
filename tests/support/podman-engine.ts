/**
 * A Podman service that belongs to one test, with its own socket and folders. It needs root, and
 * the packages podman and runc.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from './wait-until.ts';

const START_MS_MAX = 50_000;

/** Otherwise Podman asks for more open files and processes than a test machine may have. */
const SETTINGS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n';

const execute = promisify(execFile);

export class PodmanEngine {
  private readonly folder: string;
  private service: ChildProcess | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    // A test that ends early leaves no service behind.
    process.once('exit', this.endLeftOver);
  }

  private readonly endLeftOver = (): void => {
    this.service?.kill('SIGTERM');
  };

  static async start(folder: string): Promise<PodmanEngine> {
    await mkdir(folder);
    await writeFile(join(folder, 'containers.conf'), SETTINGS);
    const engine = new PodmanEngine(folder);
    const log = await open(join(folder, 'log'), 'a');
    const args = [...engine.flags, 'system', 'service', '--time=0', `unix://${engine.socket}`];
    // The process that watches a container leaves a file where the service was started.
    const stdio = ['ignore', log.fd, log.fd] as const;
    const service = spawn('podman', args, { cwd: folder, env: engine.env, stdio: [...stdio] });
    engine.service = service;
    try {
      await once(service, 'spawn');
      await waitUntil(() => engine.answers(), { what: 'it answers', timeoutMs: START_MS_MAX });
    } catch (cause) {
      service.kill('SIGTERM');
      const text = await readFile(join(folder, 'log'), 'utf8');
      throw new Error(`Podman did not start:\n${text}`, { cause });
    } finally {
      await log.close();
    }
    return engine;
  }

  get socket(): string {
    return join(this.folder, 'socket');
  }

  /** Runs `podman` with these arguments; rejects with its output if it fails. */
  async run(...args: readonly string[]): Promise<string> {
    const { stdout } = await execute('podman', [...this.flags, ...args], { env: this.env });
    return stdout.trim();
  }

  /** Ends all containers, and resolves when the service has ended. */
  async stop(): Promise<void> {
    await this.run('rm', '--all', '--force');
    const closed = once(this.service as ChildProcess, 'close');
    this.service?.kill('SIGTERM');
    await closed;
    process.off('exit', this.endLeftOver);
    await rm(this.folder, { recursive: true, force: true });
  }

  private async answers(): Promise<boolean> {
    if (this.service?.exitCode !== null) throw new Error('it ended');
    return execute('curl', ['--silent', '--fail', '--unix-socket', this.socket, URL_OF_PING]).then(
      () => true,
      () => false,
    );
  }

  private get flags(): string[] {
    const places = ['root', 'runroot'].flatMap((name) => [`--${name}`, join(this.folder, name)]);
    const kind = ['--runtime=runc', '--storage-driver=vfs', '--cgroup-manager=cgroupfs'];
    return [...places, ...kind];
  }

  private get env(): NodeJS.ProcessEnv {
    return { ...process.env, CONTAINERS_CONF: join(this.folder, 'containers.conf') };
  }
}

const URL_OF_PING = 'http://podman/_ping';
