import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** More starts than this are not remembered; ids of earlier ones are a gap. */
const STARTS_KEPT = 100;

const EVENT_ID = /^([0-9a-f]{12})-(\d{1,15})$/;
/** As it was before ids named a start; where such a place is, nobody knows. */
const BARE_ID = /^\d{1,15}$/;

/** One start of the server on this log. */
interface Start {
  /** Random: no other log has a start with this name. */
  readonly name: string;
  /** How many records the log had then. */
  readonly from: number;
}

/** Where a reader of events left off; `lost` when this log does not have that place. */
export type ReaderPlace = { readonly after: number } | 'lost' | 'malformed';

/**
 * The starts of the server on its log, by which ids of events are told from those of another log.
 *
 * A log that was restored, copied or made anew has the same positions for other changes. Whoever
 * resumes at one of them would miss changes and not know. So an id names the start in which it was
 * given out, and counts only up to where the next start began: what a log before a restore gave out
 * beyond that is not in this one. The file is not part of a backup.
 */
export class LogStarts {
  private readonly starts: readonly Start[];

  private constructor(starts: readonly Start[]) {
    this.starts = starts;
  }

  /** Notes a start, durably. The log has `position` records. */
  static async begin(path: string, position: number): Promise<LogStarts> {
    const name = randomBytes(6).toString('hex');
    const starts = [...(await readStarts(path)), { name, from: position }].slice(-STARTS_KEPT);
    await writeDurably(path, JSON.stringify(starts));
    return new LogStarts(starts);
  }

  /** The name of this start. */
  get current(): string {
    return this.starts[this.starts.length - 1].name;
  }

  /** What an id stands for, while the log has `tail` records. */
  placeOf(id: string, tail: number): ReaderPlace {
    if (BARE_ID.test(id)) return 'lost';
    const [, name, position] = EVENT_ID.exec(id) ?? [];
    if (name === undefined) return 'malformed';
    const place = this.starts.findIndex((start) => start.name === name);
    if (place < 0) return 'lost';
    const end = this.starts[place + 1]?.from ?? tail;
    const after = Number(position);
    return after < end ? { after } : 'lost';
  }
}

/** Without the file, or with a damaged one, every id from before is of an unknown log. */
async function readStarts(path: string): Promise<Start[]> {
  try {
    const starts: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(starts) && starts.every(isStart) ? starts : [];
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing || cause instanceof SyntaxError) return [];
    throw cause;
  }
}

function isStart(value: unknown): value is Start {
  const { name, from } = (value ?? {}) as Partial<Start>;
  return typeof name === 'string' && Number.isSafeInteger(from);
}

async function writeDurably(path: string, text: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
  const folder = await open(dirname(path));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
