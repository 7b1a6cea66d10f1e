import { appendFile, readFile, rename } from 'node:fs/promises';
import { basename } from 'node:path';

/** Lines that were written together. */
export interface LogEntry {
  /** Increases; an entry that is not above the last one is a repeat. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly lines: readonly string[];
}

/** Lines that a handler wrote during one attempt. */
export interface AttemptLines extends LogEntry {
  readonly id: string;
  readonly attempt: number;
  /**
   * Number of the lease. It distinguishes attempts with the same number (task-logs.file-per-lease).
   */
  readonly lease: number;
}

/**
 * The lines of one lease, in a ring of two files. When the newer file exceeds half the limit, it
 * replaces the older one.
 *
 * The owner ensures that one write is under way at a time.
 */
export class LogFile {
  private readonly path: string;
  private readonly bytesMax: number;
  /** Bytes of the newer file; below 0 when it must be read first. */
  private bytes = -1;
  private lastSeq = 0;
  /** A line break that ends a partly written line; empty otherwise. */
  private mend = '';

  constructor(path: string, bytesMax: number) {
    this.path = path;
    this.bytesMax = bytesMax;
  }

  /** Returns how many bytes were written: 0 for an entry that is known already. */
  async append(entry: LogEntry): Promise<number> {
    if (this.bytes < 0) await this.open();
    if (entry.seq <= this.lastSeq) return 0;
    if (this.bytes > this.bytesMax / 2) {
      // A sweep may have removed it.
      await rename(this.path, olderOf(this.path)).catch(ifMissing);
      this.bytes = 0;
      this.mend = '';
    }
    const text = `${this.mend}${JSON.stringify(entry)}\n`;
    try {
      await appendFile(this.path, text, { mode: 0o600 });
    } catch (cause) {
      // A part of it may have been written.
      this.bytes = -1;
      throw cause;
    }
    const bytes = Buffer.byteLength(text);
    this.mend = '';
    this.bytes += bytes;
    this.lastSeq = entry.seq;
    return bytes;
  }

  /** Reads what an earlier process wrote: the server may restart in the middle of an attempt. */
  private async open(): Promise<void> {
    const text = await readText(this.path);
    this.lastSeq = (await readEntries(this.path)).at(-1)?.seq ?? 0;
    this.mend = text === '' || text.endsWith('\n') ? '' : '\n';
    this.bytes = Buffer.byteLength(text);
  }
}

/** The files of one lease as they are; missing ones are left out. */
export async function copyFiles(path: string): Promise<{ name: string; content: Buffer }[]> {
  const paths = [olderOf(path), path];
  const contents = await Promise.all(paths.map((each) => readFile(each).catch(ifMissing)));
  return paths.flatMap((each, place) => {
    const content = contents[place];
    return content === undefined ? [] : [{ name: basename(each), content }];
  });
}

/** All entries that are kept, oldest first. */
export async function readEntries(path: string): Promise<LogEntry[]> {
  const [older, newer] = await Promise.all([readText(olderOf(path)), readText(path)]);
  return `${older}\n${newer}`.split('\n').flatMap((line) => {
    // A server that was killed during a write leaves an incomplete line.
    try {
      return [JSON.parse(line) as LogEntry];
    } catch {
      return [];
    }
  });
}

async function readText(path: string): Promise<string> {
  return (await readFile(path, 'utf8').catch(ifMissing)) ?? '';
}

function olderOf(path: string): string {
  return `${path}.older`;
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
