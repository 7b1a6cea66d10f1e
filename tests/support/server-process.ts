import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isClusterMode, storeFor } from './cluster-mode.ts';
import { LAUNCHER } from './sluice-command.ts';

const READY = / is ready at (https?:\/\/\S+)\n/;
const READY_MS_MAX = 60_000;
const OUTPUT_CHARACTERS_MAX = 10_000;

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server in a separate process. The caller of `start` must kill or stop it. */
export class ServerProcess {
  private readonly child: ChildProcess;
  private readonly exit: Promise<unknown>;
  private output = '';
  private outputListeners: (() => void)[] = [];
  /** Set by `kill` and `stop`: an exit without them is a crash. */
  private isWanted = true;
  /** The other server of a cluster (tests/support/cluster-mode.ts). */
  private owner: ServerProcess | undefined;
  /** Empty until the server said that it is ready. */
  url = '';

  private constructor({ command, args, env = {} }: Program) {
    this.child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    // 'close' comes after the last byte of output, and also when the program could not be started.
    this.exit = once(this.child, 'close').catch((cause: Error) => this.take(cause.message));
    // A test that ends early leaves no server behind.
    const killLeftOver = (): boolean => this.child.kill('SIGKILL');
    process.once('exit', killLeftOver);
    this.child.once('close', () => process.off('exit', killLeftOver));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.take(text));
    }
  }

  /** Starts `sluice dev`, by default on a free port, and waits until it serves. */
  static startDev(
    dataFolder: string,
    env?: Program['env'],
    port: string | number = 0,
  ): Promise<ServerProcess> {
    const added = env === undefined ? {} : { env };
    if (isClusterMode())
      return ServerProcess.startStandby(dataFolder, ['--port', `${port}`], added);
    const args = ['dev', '--no-agent', '--port', `${port}`, '--data', dataFolder];
    return ServerProcess.start({ command: LAUNCHER, args, ...added });
  }

  /** Starts `sluice server` on a free port with these flags, and waits until it serves. */
  static startServer(dataFolder: string, ...flags: string[]): Promise<ServerProcess> {
    if (isClusterMode() && !flags.includes('--store')) {
      return ServerProcess.startStandby(dataFolder, ['--port', '0', ...flags]);
    }
    const args = ['server', '--port', '0', '--data', dataFolder, ...flags];
    return ServerProcess.start({ command: LAUNCHER, args });
  }

  /** Starts two servers on the store that stands for the folder. This one is not the owner. */
  private static async startStandby(
    dataFolder: string,
    flags: readonly string[],
    added: Pick<Program, 'env'> = {},
  ): Promise<ServerProcess> {
    const store = await storeFor(dataFolder);
    const run = (name: string, more: readonly string[]) => {
      const data = join(dataFolder, name);
      const args = ['server', '--data', data, '--store', store, ...more];
      return ServerProcess.start({ command: LAUNCHER, args, ...added });
    };
    const owner = await run('owner', [...flags, '--port', '0']);
    const standby = await run('standby', flags);
    standby.owner = owner;
    return standby;
  }

  /** Starts any program that prints `… is ready at URL`, and waits until it does. */
  static async start(program: Program): Promise<ServerProcess> {
    const server = new ServerProcess(program);
    const [, url] = await server.printed(READY);
    server.url = url;
    return server;
  }

  /** The server whose metrics are those of the partition. */
  get ownerUrl(): string {
    return this.owner?.url ?? this.url;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** True when the process ended without `kill` or `stop`. */
  get hasCrashed(): boolean {
    return this.isWanted && this.hasExited;
  }

  /** The end of the process's output to stdout and stderr. */
  get lastOutput(): string {
    return this.output;
  }

  /** Resolves when the output contains `pattern`. It rejects if the process ends before that. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const giveUpAt = performance.now() + READY_MS_MAX;
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.hasExited || performance.now() > giveUpAt) {
        await this.kill();
        throw new Error(`the server did not print ${pattern}, but:\n${this.output}`);
      }
      await this.nextOutput();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.owner?.signal(signal);
    this.child.kill(signal);
  }

  /** Kills the process like a power cut, and resolves when it is gone. */
  async kill(): Promise<void> {
    await this.owner?.kill();
    this.isWanted = false;
    this.child.kill('SIGKILL');
    await this.exit;
  }

  /** Resolves when the process has ended by itself. */
  async exited(): Promise<NodeJS.Signals | number | null> {
    this.isWanted = false;
    await this.exit;
    return this.child.signalCode ?? this.child.exitCode;
  }

  private get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private take(text: string): void {
    this.output = (this.output + text).slice(-OUTPUT_CHARACTERS_MAX);
    for (const listener of this.outputListeners.splice(0)) listener();
  }

  private async nextOutput(): Promise<void> {
    const output = new Promise<void>((resolve) => this.outputListeners.push(resolve));
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, READY_MS_MAX);
    });
    await Promise.race([output, this.exit, timeout]);
    clearTimeout(timer);
  }
}
