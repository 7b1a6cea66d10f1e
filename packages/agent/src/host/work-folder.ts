import { execFile } from 'node:child_process';
import { chmod, chown, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PipePool } from './pipe-pool.ts';
import type { HostUser } from './users.ts';

const run = promisify(execFile);

/** Where attempts live unless the agent was told another place. */
export function defaultWorkFolder(uid: number): string {
  return join(uid === 0 ? '/var/tmp' : tmpdir(), `sluice-agent-${uid}`);
}

/**
 * Makes the folder of an agent. Others may pass through it to their own attempt and see nothing.
 * A folder that somebody else made is refused: its owner could exchange files below it.
 */
export async function makeWorkFolder(folder: string, uid: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const stats = await lstat(folder);
  if (!stats.isDirectory() || stats.uid !== uid) {
    throw new Error(`${folder} belongs to somebody else; choose another --work-dir`);
  }
  await chmod(folder, 0o711);
}

/**
 * The folder of one attempt. `control` is the agent's: pipes, the state of the attempt. `io` has
 * the input and the result, `work` is the scratch folder; both belong to the user of the command.
 */
export class AttemptFolder {
  readonly path: string;
  readonly control: string;
  readonly io: string;
  readonly work: string;

  constructor(folder: string, name: string) {
    this.path = join(folder, name);
    this.control = join(this.path, 'control');
    this.io = join(this.path, 'io');
    this.work = join(this.path, 'work');
  }

  get input(): string {
    return join(this.io, 'input.json');
  }

  get result(): string {
    return join(this.io, 'result.json');
  }

  async make(user: HostUser, input: unknown, pipes: PipePool): Promise<void> {
    await mkdir(this.path, { mode: 0o711 });
    const give = async (path: string) => {
      if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
    };
    const makeIo = async () => {
      await mkdir(this.io, { mode: 0o700 });
      await writeFile(this.input, JSON.stringify(input ?? null), { mode: 0o600 });
      await Promise.all([give(this.input), give(this.io)]);
    };
    const makeControl = async () => {
      await mkdir(this.control, { mode: 0o700 });
      await Promise.all(['out', 'err'].map((name) => pipes.place(join(this.control, name))));
    };
    const makeWork = async () => {
      await mkdir(this.work, { mode: 0o700 });
      await give(this.work);
    };
    // The mode of a new folder depends on the habits of the process.
    await Promise.all([chmod(this.path, 0o711), makeIo(), makeControl(), makeWork()]);
  }

  /**
   * Nobody on the host may enter the folder of a container: a user in the container could leave a
   * program there that runs as root. Which user that is only the image knows, so all of them may
   * write.
   */
  async makeForContainer(input: unknown): Promise<void> {
    await mkdir(this.path, { mode: 0o700 });
    await mkdir(this.control, { mode: 0o700 });
    for (const folder of [this.io, this.work]) {
      await mkdir(folder);
      await chmod(folder, 0o777);
    }
    await writeFile(this.input, JSON.stringify(input ?? null));
    await chmod(this.input, 0o644);
  }

  /** A program may have made folders that nobody may enter. */
  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(async () => {
      await run('chmod', ['-R', 'u+rwx', this.path]).catch(() => undefined);
      await rm(this.path, { recursive: true, force: true });
    });
  }
}

/** Bytes of all files below a folder; stops looking at `max`. Links are not followed. */
export async function bytesBelow(folder: string, max: number): Promise<number> {
  let sum = 0;
  const open = [folder];
  for (let path = open.pop(); path !== undefined && sum <= max; path = open.pop()) {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) open.push(child);
      // Blocks, not the size: a file with a hole takes less.
      else sum += ((await lstat(child).catch(() => undefined))?.blocks ?? 0) * 512;
    }
  }
  return sum;
}
