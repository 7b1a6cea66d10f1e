import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileLog } from '../file/file-log.ts';
import { FullDisk, ManualTimers } from './full-disk-fixture.ts';

/** Small enough that a handful of batches fills one. */
export const SMALL_SEGMENT_BYTES = 1024;

/** A folder and the logs opened in it; `dispose` removes everything. */
export class TempFolder {
  readonly path: string;
  /** The disk and the retry timers of the logs. */
  readonly disk = new FullDisk();
  readonly timers = new ManualTimers();
  readonly #logs: FileLog[] = [];
  #copies = 0;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<TempFolder> {
    return new TempFolder(await mkdtemp(join(tmpdir(), 'sluice-log-')));
  }

  /** The folder of the log, which does not exist before the first `open`. */
  get logFolder(): string {
    return join(this.path, 'log');
  }

  async open(folder = this.logFolder, segmentBytes = SMALL_SEGMENT_BYTES): Promise<FileLog> {
    const { disk } = this.disk;
    const { startTimer } = this.timers;
    const log = await FileLog.open({ folder, segmentBytes, disk, startTimer });
    this.#logs.push(log);
    return log;
  }

  /** The segments of the log, in order, as full paths. */
  async segments(folder = this.logFolder): Promise<string[]> {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.log'));
    return files.sort().map((file) => join(folder, file));
  }

  /** A copy of the segments as a crash at this moment would leave them. */
  async copy(): Promise<string> {
    this.#copies += 1;
    const target = join(this.path, `copy-${this.#copies}`);
    // Other files come and go in the background.
    const filter = (path: string) => path === this.logFolder || path.endsWith('.log');
    await cp(this.logFolder, target, { recursive: true, filter });
    return target;
  }

  async dispose(): Promise<void> {
    for (const log of this.#logs) await log.close();
    await rm(this.path, { recursive: true, force: true });
  }
}
