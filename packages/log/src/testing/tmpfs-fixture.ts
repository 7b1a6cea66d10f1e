import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PAGE = Buffer.alloc(4096, 'x');

/** A small separate disk that really gets full. Needs the right to mount. */
export class SmallDisk {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async mount(bytes: number): Promise<SmallDisk> {
    const path = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path]);
    } catch (cause) {
      throw new Error('cannot mount a tmpfs for this test; run the tests as root', { cause });
    }
    return new SmallDisk(path);
  }

  get logFolder(): string {
    return join(this.path, 'log');
  }

  /** Uses up `bytes`, or all that is left, with a file that does not belong to the log. */
  async fill(bytes = Number.POSITIVE_INFINITY): Promise<void> {
    const handle = await open(join(this.path, 'filler'), 'a');
    try {
      for (let filled = 0; filled < bytes; filled += PAGE.length) await handle.write(PAGE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      await handle.close();
    }
  }

  async free(): Promise<void> {
    await rm(join(this.path, 'filler'));
  }

  async unmount(): Promise<void> {
    await run('umount', [this.path]);
    await rm(this.path, { recursive: true });
  }
}
