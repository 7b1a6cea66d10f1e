import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PipePool } from './pipe-pool.ts';
import type { HostUser } from './users.ts';

const run = promisify(execFile);

/** Input, environment and result. */
const IO_FILES = 3;

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
 *
 * A command has a dozen small files. Calls that wait are made for them: handing each to a thread
 * takes five times as long as the call itself, and that was half of the cost of a short command.
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
    for (const [folder, mode] of [
      [this.path, 0o711],
      [this.control, 0o700],
      [this.io, 0o700],
      [this.work, 0o700],
    ] as const) {
      mkdirSync(folder, { mode });
    }
    // The mode of a new folder depends on the habits of the process.
    chmodSync(this.path, 0o711);
    writeFileSync(this.input, JSON.stringify(input ?? null), { mode: 0o600 });
    for (const path of [this.input, this.io, this.work]) this.give(path, user);
    for (const name of ['out', 'err']) await pipes.place(join(this.control, name));
  }

  /** Writes a file that only the agent reads. */
  note(name: string, text: string): void {
    writeFileSync(join(this.control, name), text, { mode: 0o600 });
  }

  /** Only root can give something to another user. */
  give(path: string, { uid, gid }: Pick<HostUser, 'uid' | 'gid'>): void {
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
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

  async remove(): Promise<void> {
    if (this.removeSmall()) return;
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 }).catch(async () => {
      // A program may have made folders that nobody may enter.
      await run('chmod', ['-R', 'u+rwx', this.path]).catch(() => undefined);
      await rm(this.path, { recursive: true, force: true });
    });
  }

  /** A folder in which the program left nothing. A large one is removed by threads. */
  private removeSmall(): boolean {
    try {
      if (readdirSync(this.work).length > 0 || readdirSync(this.io).length > IO_FILES) return false;
      rmSync(this.path, { recursive: true });
      return true;
    } catch {
      return false;
    }
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
