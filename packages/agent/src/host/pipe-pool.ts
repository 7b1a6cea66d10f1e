import { execFile } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Pipes that one process makes at once. */
const BATCH = 64;

/**
 * Named pipes in stock. Node cannot make them, and to start a program for each would take as long
 * as to start the command itself.
 */
export class PipePool {
  private readonly folder: string;
  private readonly free: string[] = [];
  private made = 0;
  private filling: Promise<void> | undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Those that an earlier agent had in stock are removed. */
  static async open(workFolder: string): Promise<PipePool> {
    const pool = new PipePool(join(workFolder, 'pipes'));
    await rm(pool.folder, { recursive: true, force: true });
    await mkdir(pool.folder, { mode: 0o700 });
    return pool;
  }

  /** Puts a pipe that only the agent may open at this path. */
  async place(path: string): Promise<void> {
    let pipe = this.free.pop();
    while (pipe === undefined) {
      this.filling ??= this.fill().finally(() => {
        this.filling = undefined;
      });
      await this.filling;
      pipe = this.free.pop();
    }
    await rename(pipe, path);
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  private async fill(): Promise<void> {
    const paths = Array.from({ length: BATCH }, () => join(this.folder, String(++this.made)));
    await run('mkfifo', ['-m', '600', ...paths]);
    this.free.push(...paths);
  }
}
