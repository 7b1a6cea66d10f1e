/**
 * A Docker engine that belongs to one test: it has its own socket and folders, no bridge, and
 * changes nothing in the network of the machine. It needs root, and the package docker.io.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from './wait-until.ts';

const START_MS_MAX = 50_000;

/** What the Dockerfile and the launcher of the command call. */
const APPLETS = ['sh', 'mkdir', 'chown', 'chmod', 'readlink', 'dirname', 'id', 'touch'];

const execute = promisify(execFile);

export class DockerEngine {
  private readonly folder: string;
  private readonly daemon: ChildProcess;
  private readonly exit: Promise<unknown>;

  private constructor(folder: string, daemon: ChildProcess) {
    this.folder = folder;
    this.daemon = daemon;
    this.exit = once(daemon, 'close');
    // A test that ends early leaves no engine behind.
    const endLeftOver = (): boolean => daemon.kill('SIGTERM');
    process.once('exit', endLeftOver);
    daemon.once('close', () => process.off('exit', endLeftOver));
  }

  /** Rejects with the messages of the engine if it does not start. */
  static async start(folder: string): Promise<DockerEngine> {
    await mkdir(folder);
    const paths = ['data-root', 'exec-root', 'pidfile', 'config-file'];
    const places = paths.flatMap((name) => [`--${name}`, join(folder, name)]);
    const apart = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'];
    const log = await open(join(folder, 'log'), 'w');
    await writeFile(join(folder, 'config-file'), '{}');
    const args = ['--host', `unix://${folder}/socket`, ...places, ...apart];
    const daemon = spawn('dockerd', args, { stdio: ['ignore', log.fd, log.fd] });
    const engine = new DockerEngine(folder, daemon);
    try {
      await once(daemon, 'spawn');
      await waitUntil(() => engine.answers(), { what: 'it answers', timeoutMs: START_MS_MAX });
      return engine;
    } catch (cause) {
      daemon.kill('SIGTERM');
      const text = await readFile(join(folder, 'log'), 'utf8');
      throw new Error(`the Docker engine did not start:\n${text}`, { cause });
    } finally {
      await log.close();
    }
  }

  private async answers(): Promise<boolean> {
    if (this.daemon.exitCode !== null) throw new Error('it ended');
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
    this.daemon.kill('SIGTERM');
    await this.exit;
  }
}
