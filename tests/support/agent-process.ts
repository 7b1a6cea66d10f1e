import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const LAUNCHER = fileURLToPath(new URL('../../packages/cli/bin/sluice', import.meta.url));

interface AgentSettings {
  readonly url: string;
  readonly workFolder: string;
  readonly flags: readonly string[];
}

/** `sluice agent` in a separate process. The caller must kill or stop it. */
export class AgentUnderTest {
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
    // A test that ends early leaves no agent behind.
    const killLeftOver = (): boolean => child.kill('SIGKILL');
    process.once('exit', killLeftOver);
    child.once('close', () => process.off('exit', killLeftOver));
  }

  /** Resolves when the server has welcomed it. */
  static async start({ url, workFolder, flags }: AgentSettings): Promise<AgentUnderTest> {
    const args = ['agent', '--url', url, '--work-dir', workFolder, ...flags];
    const child = spawn(LAUNCHER, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const agent = new AgentUnderTest(child);
    let said = '';
    child.stderr.on('data', (bytes) => {
      said += String(bytes);
    });
    for await (const bytes of child.stdout) {
      said += String(bytes);
      if (said.includes('agent ready')) return agent;
    }
    throw new Error(`the agent ended: ${said}`);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const closed = once(this.child, 'close');
    this.child.kill(signal);
    await closed;
  }
}
