import type { Disk, DiskFile, OpenMode } from '../disk/disk.ts';
import { nodeDisk } from '../disk/node-disk.ts';
import type { StartTimer } from '../disk/retry-timer.ts';

type Write = DiskFile['write'];

/** The real disk, with changed writes for files that are opened in one mode. */
export function diskWith(mode: OpenMode, change: (write: Write) => Write): Disk {
  return {
    ...nodeDisk,
    async open(path, opened) {
      const file = await nodeDisk.open(path, opened);
      if (opened !== mode) return file;
      return {
        read: (...given) => file.read(...given),
        write: change((...given) => file.write(...given)),
        sync: () => file.sync(),
        close: () => file.close(),
      };
    },
  };
}

/** A disk that has room for new files or is full, as the test sets it. */
export class FullDisk {
  isFull = false;
  /** Number of writes after which the disk is full. */
  writesLeft = Number.POSITIVE_INFINITY;
  code = 'ENOSPC';

  readonly disk = diskWith('create', (write) => (bytes, range, done) => {
    this.writesLeft -= 1;
    if (!this.isFull && this.writesLeft >= 0) return write(bytes, range, done);
    return done(Object.assign(new Error(`${this.code}: injected`), { code: this.code }), 0);
  });
}

/** Timers that fire when the test says so. */
export class ManualTimers {
  #waiting: { readonly delayMs: number; readonly run: () => void }[] = [];

  readonly startTimer: StartTimer = (delayMs, run) => {
    const timer = { delayMs, run };
    this.#waiting.push(timer);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== timer);
    };
  };

  get delaysMs(): number[] {
    return this.#waiting.map(({ delayMs }) => delayMs);
  }

  fire(): void {
    const due = this.#waiting;
    this.#waiting = [];
    for (const { run } of due) run();
  }
}
