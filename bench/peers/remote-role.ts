import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ClientRole } from './client-role.ts';
import type { WorkerRole } from './worker-role.ts';

/** The methods that a role process executes. */
interface Roles {
  readonly client: ClientRole;
  readonly worker: WorkerRole;
}

interface Place {
  readonly contender: string;
  readonly address: string;
  readonly queue: string;
}

type Answer = { readonly answer: unknown } | { readonly error: string };

const SAID_MAX = 4000;

/** The parent's side of a role process; one call at a time. */
export class RemoteRole<R extends keyof Roles> {
  private readonly child: ChildProcess;

  /** The end of the process's standard error. */
  private said = '';

  private constructor(child: ChildProcess) {
    this.child = child;
    child.stderr?.on('data', (text: Buffer) => {
      this.said = `${this.said}${text}`.slice(-SAID_MAX);
    });
  }

  static async start<R extends keyof Roles>(
    role: R,
    { contender, address, queue }: Place,
    nodeFlags: readonly string[] = [],
  ): Promise<RemoteRole<R>> {
    const args = [role, contender, address, queue];
    // What peers print while their store is down is useless, unless the process ends because of it.
    const child = fork(join(import.meta.dirname, 'role-process.ts'), args, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [...nodeFlags],
    });
    const remote = new RemoteRole<R>(child);
    await remote.answer();
    return remote;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async call<M extends keyof Roles[R]>(
    method: M,
    ...[args]: Roles[R][M] extends (...given: infer A) => unknown ? A : never
  ): Promise<Roles[R][M] extends (...given: never) => infer A ? Awaited<A> : never> {
    const answer = this.answer();
    this.child.send({ call: method, args });
    return (await answer) as never;
  }

  /** Lets the process end by itself. */
  async leave(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  private async answer(): Promise<unknown> {
    const settled = new AbortController();
    const { signal } = settled;
    const gone = once(this.child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a process of the benchmark ended with code ${code}: ${this.said}`);
    });
    gone.catch(() => undefined);
    const heard = once(this.child, 'message', { signal });
    heard.catch(() => undefined);
    const [said] = (await Promise.race([heard, gone])) as [Answer];
    settled.abort();
    if ('error' in said) throw new Error(said.error);
    return said.answer;
  }
}
