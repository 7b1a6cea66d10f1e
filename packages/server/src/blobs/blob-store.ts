import { join } from 'node:path';
import { Readable } from 'node:stream';
import { LIMITS } from '@sluice/protocol';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { BlobCopies } from './blob-copies.ts';
import { BlobFiles, type BlobKey, blobName, placeOf, type StoredBlob } from './blob-files.ts';
import { readBlob } from './blob-reading.ts';
import { type BlobBody, blobDiskFull, blobTooLarge, writeBlob } from './blob-writing.ts';

/** A blob that was not used for this long is removed. */
export const BLOB_KEPT_MS = 24 * 60 * 60 * 1000;

/** Disk space left for the next segments of the log, rows and snapshots. */
const RESERVE_BYTES = 128 * 1024 * 1024;

/** Each upload has an open file and one chunk in memory. */
const UPLOADS_MAX = 64;

/** Where blobs are stored. A file is written first; `finish` makes it a blob. */
export type BlobShelf = Pick<
  BlobFiles,
  | 'open'
  | 'newUnfinished'
  | 'finish'
  | 'read'
  | 'stat'
  | 'touch'
  | 'setAside'
  | 'list'
  | 'roomBytes'
> & {
  /** Not if it was used at `unusedSince` or later. */
  remove(key: BlobKey, unusedSince: number): Promise<void>;
};

export interface BlobStoreOptions {
  readonly folder: string;
  /** Files of the folder unless blobs are elsewhere; then the folder is for copies. */
  readonly shelf?: BlobShelf;
  readonly clock: () => number;
  /** Called with the new path of a file whose content does not match its name. */
  readonly onDamaged: (path: string) => void;
  /** Disk space that uploads leave free. */
  readonly reserveBytes?: number;
  /** Bytes that one namespace may have. */
  readonly namespaceBytesMax?: number;
}

/** Blobs that a request is about to name: none of them is removed before `release`. */
export interface BlobHold {
  /** Hashes of the blobs that do not exist. */
  readonly missing: ReadonlySet<string>;
  release(): void;
}

/** Totals of the last sweep, plus the uploads since then. */
export interface BlobTotals {
  count: number;
  bytes: number;
}

/** The part of the store that submits and reports need. */
export interface BlobHolder {
  hold(namespace: string, hashes: Iterable<string>): Promise<BlobHold>;
}

/**
 * Payloads that are too big for the log, by the hash of their content.
 *
 * - A blob that can be read is complete, and was on the disk before its upload was answered.
 * blobs.named-exists: A blob that a task names exists. A request that is about to name a blob first
 *   holds it and sets its last use to now, before the core gets the command. A blob that is held,
 *   or was used within `BLOB_KEPT_MS`, is not removed. The check of the holds and the decision to
 *   remove happen in one turn.
 */
export class BlobStore implements BlobHolder {
  readonly totals: BlobTotals = { count: 0, bytes: 0 };
  /** Bytes of each namespace: as of the last sweep, plus the uploads since then. */
  private bytesByNamespace = new Map<string, number>();
  private readonly files: BlobShelf;
  private readonly options: BlobStoreOptions;
  /** Undefined when blobs are files. */
  private readonly copies: BlobCopies | undefined;
  /** Number of holds, by name. */
  private readonly held = new Map<string, number>();
  /** Names of blobs that are to be removed, unless they are held before their age is read. */
  private readonly doomed = new Set<string>();
  /** Removals under way, by name. */
  private readonly removals = new Map<string, Promise<void>>();
  private uploads = 0;
  /** Bytes that the uploads under way may still write. */
  private arrivingBytes = 0;

  private constructor(files: BlobShelf, options: BlobStoreOptions) {
    this.files = files;
    this.options = options;
    const { shelf, folder } = options;
    this.copies = shelf && new BlobCopies(shelf, join(folder, 'copies'));
  }

  static async open(options: BlobStoreOptions): Promise<BlobStore> {
    const files = options.shelf ?? new BlobFiles(options.folder);
    await files.open();
    return new BlobStore(files, options);
  }

  /** Returns the blob's length. `announced` is the length that the client announced, or -1. */
  async put(key: BlobKey, body: BlobBody, announced: number): Promise<number> {
    if (announced > LIMITS.blobBytesMax) throw blobTooLarge();
    const { missing, release } = await this.hold(key.namespace, [key.sha256]);
    try {
      const known = missing.size === 0 ? await this.files.stat(key) : undefined;
      return known?.bytes ?? (await this.receive(key, body, announced));
    } finally {
      release();
    }
  }

  /**
   * The bytes, verified while they are read: the last chunk is withheld until all bytes are
   * verified.
   */
  async get(
    key: BlobKey,
  ): Promise<{ readonly bytes: number; readonly body: Readable } | undefined> {
    const found = await this.files.read(key);
    if (found === undefined) return undefined;
    const onDamaged = async (): Promise<void> => {
      this.options.onDamaged(await this.files.setAside(key));
    };
    const body = Readable.from(readBlob(found.chunks, key.sha256, onDamaged));
    // Also when the body is not read to the end, or not at all. A failed close loses nothing.
    body.once('close', () => void found.close().catch(() => undefined));
    return { bytes: found.bytes, body };
  }

  async hold(namespace: string, hashes: Iterable<string>): Promise<BlobHold> {
    const keys = Array.from(new Set(hashes), (sha256) => ({ namespace, sha256 }));
    const names = keys.map(blobName);
    for (const name of names) {
      this.held.set(name, (this.held.get(name) ?? 0) + 1);
      this.doomed.delete(name);
    }
    const release = (): void => {
      for (const name of names) {
        const others = (this.held.get(name) ?? 0) - 1;
        if (others > 0) this.held.set(name, others);
        else this.held.delete(name);
      }
    };
    try {
      const missing = new Set<string>();
      for (const [place, key] of keys.entries()) {
        await this.removals.get(names[place]);
        const isThere = await this.files.touch(key, this.options.clock());
        if (!isThere) missing.add(key.sha256);
      }
      return { missing, release };
    } catch (cause) {
      release();
      throw cause;
    }
  }

  /**
   * A file with the content of a blob, if the blob exists. Never rejects: while the store of blobs
   * does not answer, it waits.
   */
  async fileOf(key: BlobKey): Promise<string> {
    return this.copies?.fileOf(key) ?? join(this.options.folder, placeOf(key));
  }

  list(): AsyncGenerator<StoredBlob[]> {
    return this.files.list();
  }

  /** A task names the blob, so it is in use. */
  async use(key: BlobKey): Promise<void> {
    await this.files.touch(key, this.options.clock());
  }

  /**
   * Removes a blob that no task names, unless it was used lately or is held (blobs.named-exists).
   */
  async remove(key: BlobKey): Promise<boolean> {
    const name = blobName(key);
    this.doomed.add(name);
    const found = await this.files.stat(key);
    // A blob that was used since then is younger than the time read from the disk.
    const isUnused = this.doomed.delete(name) && !this.held.has(name);
    const unusedSince = this.options.clock() - BLOB_KEPT_MS;
    const isOld = found !== undefined && found.usedAt < unusedSince;
    if (!isOld || !isUnused) return false;
    const removal = this.files.remove(key, unusedSince).finally(() => this.removals.delete(name));
    // A caller that waits for the removal checks the result itself.
    this.removals.set(
      name,
      removal.catch(() => undefined),
    );
    await removal;
    return true;
  }

  private async receive(key: BlobKey, body: BlobBody, announced: number): Promise<number> {
    if (this.uploads >= UPLOADS_MAX) throw overloaded('too many uploads of blobs at once');
    const expected = announced < 0 ? LIMITS.blobBytesMax : announced;
    this.checkQuota(key.namespace, announced < 0 ? 0 : announced);
    this.uploads += 1;
    this.arrivingBytes += expected;
    try {
      await this.checkRoom();
      const unfinished = this.files.newUnfinished();
      const bytes = await writeBlob(unfinished, body, key.sha256);
      await this.files.finish(unfinished, key);
      await this.files.touch(key, this.options.clock());
      this.totals.count += 1;
      this.totals.bytes += bytes;
      this.bytesByNamespace.set(key.namespace, this.bytesOf(key.namespace) + bytes);
      return bytes;
    } finally {
      this.uploads -= 1;
      this.arrivingBytes -= expected;
    }
  }

  /** Bytes that one namespace may have. */
  get namespaceBytesMax(): number {
    return this.options.namespaceBytesMax ?? Number.MAX_SAFE_INTEGER;
  }

  /** Bytes that a namespace has. */
  bytesOf(namespace: string): number {
    return this.bytesByNamespace.get(namespace) ?? 0;
  }

  /** The counts of a sweep replace the running totals. */
  counted(totals: BlobTotals, bytesByNamespace: Map<string, number>): void {
    Object.assign(this.totals, totals);
    this.bytesByNamespace = bytesByNamespace;
  }

  private checkQuota(namespace: string, more: number): void {
    const max = this.namespaceBytesMax;
    if (this.bytesOf(namespace) + more > max) throw quotaExceeded('blobBytesMax', max);
  }

  private async checkRoom(): Promise<void> {
    const { reserveBytes = RESERVE_BYTES } = this.options;
    if ((await this.files.roomBytes()) < reserveBytes + this.arrivingBytes) throw blobDiskFull();
  }
}
