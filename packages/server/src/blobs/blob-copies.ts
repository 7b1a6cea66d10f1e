import { createWriteStream } from 'node:fs';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BlobFiles, BlobKey } from './blob-files.ts';

/** Copies that are kept. A script reads its copy soon after it was made. */
const KEPT_MAX = 64;

const RETRY_MS = 1000;

/** Files with the content of blobs that are stored elsewhere, for readers of files. */
export class BlobCopies {
  private readonly shelf: Pick<BlobFiles, 'read'>;
  private readonly folder: string;
  /** Copies by path, the least recently made first. */
  private readonly made = new Map<string, Promise<void>>();

  constructor(shelf: Pick<BlobFiles, 'read'>, folder: string) {
    this.shelf = shelf;
    this.folder = folder;
  }

  /** Tries until the blob was read, or does not exist: then there is no such file. */
  async fileOf(key: BlobKey): Promise<string> {
    const path = join(this.folder, key.sha256);
    for (;;) {
      try {
        await (this.made.get(path) ?? this.make(key, path));
        await access(path);
        return path;
      } catch (cause) {
        this.made.delete(path);
        if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return path;
        await sleep(RETRY_MS);
      }
    }
  }

  private async make(key: BlobKey, path: string): Promise<void> {
    const making = this.copy(key, path);
    this.made.set(path, making);
    const [oldest] = this.made.keys();
    if (this.made.size > KEPT_MAX) {
      this.made.delete(oldest);
      await rm(oldest, { force: true });
    }
    await making;
  }

  private async copy(key: BlobKey, path: string): Promise<void> {
    const found = await this.shelf.read(key);
    if (found === undefined) return;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const unfinished = `${path}.unfinished`;
    try {
      await pipeline(Readable.from(found.chunks), createWriteStream(unfinished, { mode: 0o600 }));
    } finally {
      await found.close();
    }
    await rename(unfinished, path);
  }
}
