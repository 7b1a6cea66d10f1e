import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, statfs, unlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { chunksOf, type ShelvedBlob } from './blob-reading.ts';

/** A blob of one namespace. */
export interface BlobKey {
  readonly namespace: string;
  readonly sha256: string;
}

/** The name of a blob, unique over all namespaces. */
export function blobName({ namespace, sha256 }: BlobKey): string {
  return `${namespace}/${sha256}`;
}

export interface StoredBlob extends BlobKey {
  readonly bytes: number;
  /** When it was last uploaded, named by a task, or found named by a sweep. */
  readonly usedAt: number;
}

/** No namespace has a folder with one of these names. */
const UNFINISHED = '.unfinished';
const DAMAGED = '.damaged';

/** Prefix of a namespace's folder, because a namespace may be named `..`. */
const NAMESPACE_MARK = '@';

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Where blobs are stored on the disk: `@namespace/ab/abcdef…`, one file each.
 *
 * Each namespace has separate files, even where another namespace has the same content. So a
 * namespace reads only what it uploaded, and the time of an upload reveals nothing about other
 * namespaces.
 *
 * blobs.name-when-whole: A file gets its name only when all of it is on the disk. Until then it is
 *   among the unfinished files, which the next start removes.
 */
export class BlobFiles {
  private readonly folder: string;
  /** Folders whose entries are durable. */
  private readonly made = new Set<string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Removes unfinished files of a process that died. */
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

  /** Gives an unfinished file its name (blobs.name-when-whole). Its bytes are on the disk. */
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

  /** Returns undefined when the blob does not exist. */
  async read(key: BlobKey): Promise<ShelvedBlob | undefined> {
    const file = await unlessMissing(open(this.pathOf(key), 'r'));
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    return { bytes: size, chunks: chunksOf(file), close: () => file.close() };
  }

  /** Bytes that are free. */
  async roomBytes(): Promise<number> {
    const { bsize, bavail } = await statfs(this.folder);
    return bsize * bavail;
  }

  /** Returns undefined when the blob does not exist. */
  async stat(key: BlobKey): Promise<StoredBlob | undefined> {
    const found = await unlessMissing(stat(this.pathOf(key)));
    return found && { ...key, bytes: found.size, usedAt: found.mtimeMs };
  }

  /** Sets the last use to `at`. Returns whether the blob exists. */
  async touch(key: BlobKey, at: number): Promise<boolean> {
    const time = at / 1000;
    const touched = utimes(this.pathOf(key), time, time).then(() => true);
    return (await unlessMissing(touched)) ?? false;
  }

  async remove(key: BlobKey): Promise<void> {
    await unlessMissing(unlink(this.pathOf(key)));
  }

  /** Keeps a file whose content does not match its name, for inspection. */
  async setAside(key: BlobKey): Promise<string> {
    const aside = join(this.folder, DAMAGED);
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const path = join(aside, `${key.namespace}.${key.sha256}`);
    await unlessMissing(rename(this.pathOf(key), path));
    return path;
  }

  /** All blobs, folder by folder. Blobs that come or go meanwhile may be included. */
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
    // Also when the folder existed: the process that made it may have been killed before the sync.
    await syncFolder(dirname(path));
    this.made.add(path);
  }
}

/** Path of a blob below the folder of all blobs. */
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
