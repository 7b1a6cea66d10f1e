/** `sluice backup` and `sluice restore` for tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Ended, runSluice } from './sluice-command.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

/** Throws unless the backup succeeded. */
export async function takeBackup(url: string, folder: string): Promise<void> {
  mustBeDone(await runSluice(['backup', folder, '--url', url]));
}

export async function restoreInto(dataFolder: string, folder: string): Promise<void> {
  mustBeDone(await runSluice(['restore', folder, '--data', dataFolder]));
}

function mustBeDone({ code, stderr }: Ended): void {
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
}

/** A backup that is killed before its end. */
export class DoomedBackup {
  private readonly child: ChildProcess;
  private readonly closed: Promise<unknown>;

  constructor(url: string, folder: string) {
    this.child = spawn(LAUNCHER, ['backup', folder, '--url', url], { stdio: 'ignore' });
    this.closed = once(this.child, 'close');
  }

  /** Kills it like a power cut. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.closed;
  }
}
