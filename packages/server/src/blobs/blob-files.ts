import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A blob, as the one namespace knows it that it belongs to. */
export interface BlobKey {
  readonly namespace: string;
  readonly sha256: string;
}

/** What a blob is known by among those of all namespaces. */
export function blobName({ namespace, sha256 }: BlobKey): string {
  return `${namespace}/${sha256}`;
}

export interface StoredBlob extends BlobKey {
  readonly bytes: number;
  /** When it was last uploaded, named by a task, or seen to be. */
  readonly usedAt: number;
}

/** Neither is the folder of a namespace. */
const UNFINISHED = '.unfinished';
const DAMAGED = '.damaged';

/** In front of the name of a namespace, which may be `..` itself. */
const NAMESPACE_MARK = '@';

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Where blobs lie on the disk: `@namespace/ab/abcdef…`, one file each.
 *
 * Every namespace has files of its own, also where another one has the same content: what can be
 * read is what is there, and how long an upload takes says nothing of what others have.
 *
 * F1 A file has its name when all of it is on the disk, and never before: until then it is among
 *    the unfinished, which the next start removes.
 */
export class BlobFiles {
  private readonly folder: string;
  /** Folders whose names are on the disk for good. */
  private readonly made = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Removes what a process that died was about to write. */
  async open(): Promise<void> {
    await rm(join(this.folder, UNFINISHED), { recursive: true, force: true });
    await mkdir(join(this.folder, UNFINISHED), { recursive: true, mode: 0o700 });
    await syncFolder(dirname(this.folder));
  }

  pathOf({ namespace, sha256 }: BlobKey): string {
    return join(this.folder, placeOf({ namespace, sha256 }));
  }

  newUnfinished(): string {
    return join(this.folder, UNFINISHED, randomBytes(12).toString('hex'));
  }

  /** Gives an unfinished file, whose bytes are on the disk, its name (F1). */
  async finish(unfinished: string, key: BlobKey): Promise<void> {
    const path = this.pathOf(key);
    const folder = dirname(path);
    try {
      await this.makeFolder(dirname(folder));
      await this.makeFolder(folder);
      await rename(unfinished, path);
    } catch (cause) {
      await unlessMissing(unlink(unfinished));
      throw cause;
    }
    await syncFolder(folder);
  }

  /** Nothing when it is not there. */
  async stat(key: BlobKey): Promise<StoredBlob | undefined> {
    const found = await unlessMissing(stat(this.pathOf(key)));
    return found && { ...key, bytes: found.size, usedAt: found.mtimeMs };
  }

  /** Whether it is there; its last use is `at` from then on. */
  async touch(key: BlobKey, at: number): Promise<boolean> {
    const time = at / 1000;
    const touched = utimes(this.pathOf(key), time, time).then(() => true);
    return (await unlessMissing(touched)) ?? false;
  }

  async remove(key: BlobKey): Promise<void> {
    await unlessMissing(unlink(this.pathOf(key)));
  }

  /** Keeps a file whose content is not what its name says for whoever wants to look at it. */
  async setAside(key: BlobKey): Promise<string> {
    const aside = join(this.folder, DAMAGED);
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const path = join(aside, `${key.namespace}.${key.sha256}`);
    await unlessMissing(rename(this.pathOf(key), path));
    return path;
  }

  /** All that are there, folder by folder; what comes and goes meanwhile may be among them. */
  async *list(): AsyncGenerator<StoredBlob[]> {
    for (const marked of await namesIn(this.folder)) {
      if (!marked.startsWith(NAMESPACE_MARK)) continue;
      const namespace = marked.slice(NAMESPACE_MARK.length);
      for (const part of await namesIn(join(this.folder, marked))) {
        const names = await namesIn(join(this.folder, marked, part));
        const keys = names.filter((name) => SHA256.test(name));
        const found = await Promise.all(keys.map((sha256) => this.stat({ namespace, sha256 })));
        yield found.filter((blob) => blob !== undefined);
      }
    }
  }

  private async makeFolder(path: string): Promise<void> {
    if (this.made.has(path)) return;
    await mkdir(path, { recursive: true, mode: 0o700 });
    // Also when it was there: whoever made it may have been killed before this.
    await syncFolder(dirname(path));
    this.made.add(path);
  }
}

/** Where a blob is below the folder of all. */
export function placeOf({ namespace, sha256 }: BlobKey): string {
  return join(NAMESPACE_MARK + namespace, sha256.slice(0, 2), sha256);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await unlessMissing(readdir(folder))) ?? [];
}

async function unlessMissing<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
}
