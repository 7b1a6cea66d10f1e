import { appendFile, readFile, rename, stat } from 'node:fs/promises';

/** What was written at once. */
export interface LogEntry {
  /** Counts up; one that is not above the last one was written before. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly lines: readonly string[];
}

/**
 * The lines of one attempt, in a ring of two files: when the newer one is half the bound, it takes
 * the place of the older one.
 *
 * One write is under way at a time; the owner sees to that.
 */
export class LogFile {
  private readonly path: string;
  private readonly bytesMax: number;
  private bytes = -1;
  private lastSeq = 0;

  constructor(path: string, bytesMax: number) {
    this.path = path;
    this.bytesMax = bytesMax;
  }

  /** Answers false for one that is known already. */
  async append(entry: LogEntry): Promise<boolean> {
    if (this.bytes < 0) await this.open();
    if (entry.seq <= this.lastSeq) return false;
    const text = `${JSON.stringify(entry)}\n`;
    if (this.bytes > this.bytesMax / 2) {
      await rename(this.path, olderOf(this.path));
      this.bytes = 0;
    }
    await appendFile(this.path, text);
    this.bytes += Buffer.byteLength(text);
    this.lastSeq = entry.seq;
    return true;
  }

  /** What another process wrote counts, too: a server may be started again in the middle. */
  private async open(): Promise<void> {
    this.bytes = (await stat(this.path).catch(ifMissing))?.size ?? 0;
    this.lastSeq = (await readEntries(this.path)).at(-1)?.seq ?? 0;
  }
}

/** All that is kept, oldest first. */
export async function readEntries(path: string): Promise<LogEntry[]> {
  const [older, newer] = await Promise.all([readText(olderOf(path)), readText(path)]);
  return `${older}${newer}`.split('\n').flatMap((line) => {
    // A server that was killed in the middle of a line leaves a part of it.
    try {
      return [JSON.parse(line) as LogEntry];
    } catch {
      return [];
    }
  });
}

async function readText(path: string): Promise<string> {
  const text = (await readFile(path, 'utf8').catch(ifMissing)) ?? '';
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function olderOf(path: string): string {
  return `${path}.older`;
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
