/**
 * A Docker engine that belongs to one test: it has its own socket and folders, no bridge, and
 * changes nothing in the network of the machine. It needs root, and the package docker.io.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from './wait-until.ts';

const START_MS_MAX = 50_000;

/** What the Dockerfile and the launcher of the command call. */
const APPLETS = ['sh', 'mkdir', 'chown', 'chmod', 'readlink', 'dirname', 'id', 'touch'];

const execute = promisify(execFile);

export class DockerEngine {
  private readonly folder: string;
  private daemon: ChildProcess | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    // A test that ends early leaves no engine behind.
    process.once('exit', this.endLeftOver);
  }

  private readonly endLeftOver = (): void => {
    this.daemon?.kill('SIGTERM');
  };

  /** Rejects with the messages of the engine if it does not start. */
  static async start(folder: string): Promise<DockerEngine> {
    await mkdir(folder);
    await writeFile(join(folder, 'config-file'), '{}');
    const engine = new DockerEngine(folder);
    await engine.startAgain();
    return engine;
  }

  get socket(): string {
    return join(this.folder, 'socket');
  }

  /** Starts an engine that was killed, with the images and containers that it had. */
  async startAgain(): Promise<void> {
    const { folder } = this;
    const paths = ['data-root', 'exec-root', 'pidfile', 'config-file'];
    const places = paths.flatMap((name) => [`--${name}`, join(folder, name)]);
    const apart = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'];
    const log = await open(join(folder, 'log'), 'a');
    const args = ['--host', `unix://${folder}/socket`, ...places, ...apart];
    const daemon = spawn('dockerd', args, { stdio: ['ignore', log.fd, log.fd] });
    this.daemon = daemon;
    try {
      await once(daemon, 'spawn');
      await waitUntil(() => this.answers(), { what: 'it answers', timeoutMs: START_MS_MAX });
    } catch (cause) {
      daemon.kill('SIGTERM');
      const text = await readFile(join(folder, 'log'), 'utf8');
      throw new Error(`the Docker engine did not start:\n${text}`, { cause });
    } finally {
      await log.close();
    }
  }

  /** Ends the engine as a crash would. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
    // The numbers in these files may be those of processes that ended and were not collected.
    const left = ['socket', 'pidfile', 'exec-root/containerd/containerd.pid'];
    for (const name of left) await rm(join(this.folder, name), { force: true });
  }

  private async answers(): Promise<boolean> {
    if (this.daemon?.exitCode !== null) throw new Error('it ended');
    return this.run('version').then(
      () => true,
      () => false,
    );
  }

  /** Runs `docker` with these arguments; rejects with its output if it fails. */
  async run(...args: readonly string[]): Promise<string> {
    // The builder that is part of the engine. The other one is a separate program.
    const env = { ...process.env, DOCKER_BUILDKIT: '0' };
    const { stdout } = await execute('docker', ['-H', `unix://${this.folder}/socket`, ...args], {
      env,
    });
    return stdout.trim();
  }

  /** Makes a base image with the Node of this repository and a shell: none can be downloaded. */
  async makeBaseImage(name: string): Promise<void> {
    const root = join(this.folder, 'base');
    const node = process.execPath;
    const { stdout } = await execute('ldd', [node]);
    const libraries = Array.from(stdout.matchAll(/(?:=> |^\s*)(\/\S+)/gm), ([, path]) => path);
    const copies = libraries.map((path) => [path, path]);
    for (const [from, to] of [...copies, [node, '/usr/local/bin/node']]) {
      await mkdir(dirname(join(root, to)), { recursive: true });
      await copyFile(from, join(root, to));
      await chmod(join(root, to), 0o755);
    }
    await mkdir(join(root, 'bin'), { recursive: true });
    const { stdout: busybox } = await execute('sh', ['-c', 'command -v busybox']);
    await copyFile(busybox.trim(), join(root, 'bin/busybox'));
    for (const applet of APPLETS) await symlink('busybox', join(root, 'bin', applet));
    const archive = `${root}.tar`;
    await execute('tar', ['-C', root, '-cf', archive, '.']);
    await this.run('import', '--change', 'ENV PATH=/usr/local/bin:/bin', archive, name);
  }

  /** Ends all containers, and resolves when the engine has ended. */
  async stop(): Promise<void> {
    const running = await this.run('ps', '--all', '--quiet');
    if (running !== '') await this.run('rm', '--force', ...running.split('\n'));
    await this.end('SIGTERM');
    process.off('exit', this.endLeftOver);
    await this.endShims();
    await this.unmountAll();
  }

  /** An engine that was killed leaves the processes that watch its containers. */
  private async endShims(): Promise<void> {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const title = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      const isShim = title.includes('containerd-shim') && title.includes(`${this.folder}/`);
      if (isShim) process.kill(Number(pid), 'SIGKILL');
    }
  }

  /** An engine that was killed leaves its mounts. */
  private async unmountAll(): Promise<void> {
    const mounts = (await readFile('/proc/self/mounts', 'utf8')).split('\n');
    const places = mounts.map((line) => line.split(' ')[1] ?? '');
    const left = places.filter((place) => place.startsWith(`${this.folder}/`)).reverse();
    for (const place of left) await execute('umount', ['--lazy', place]).catch(() => undefined);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { daemon } = this;
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const closed = once(daemon, 'close');
    daemon.kill(signal);
    await closed;
  }
}
