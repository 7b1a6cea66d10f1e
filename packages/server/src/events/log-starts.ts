import { randomBytes } from 'node:crypto';
import type { Note } from '../base/note-file.ts';

/** Number of starts remembered. Ids from earlier starts lead to a gap. */
const STARTS_KEPT = 100;

const EVENT_ID = /^([0-9a-f]{12})-(\d{1,15})$/;
/** The form of ids before they named a start. Such an id has no known place. */
const BARE_ID = /^\d{1,15}$/;

/** One start of the server on this log. */
interface Start {
  /** Random, so it is unique over all logs. */
  readonly name: string;
  /** Number of records in the log at that start. */
  readonly from: number;
}

/** Where a reader of events left off; `lost` when this log does not contain that place. */
export type ReaderPlace = { readonly after: number } | 'lost' | 'malformed';

/**
 * The starts of the server on its log. They tell event ids of this log from those of another.
 *
 * A log that was restored, copied or created again has the same positions for other changes. A
 * reader that resumes at such a position would miss changes without noticing. So an id names the
 * start that issued it, and is valid only up to the position where the next start began. Ids beyond
 * that come from the log before a restore, and are not in this one. The note is not part of a
 * backup.
 */
export class LogStarts {
  private readonly starts: readonly Start[];

  private constructor(starts: readonly Start[]) {
    this.starts = starts;
  }

  /** Records a start durably. The log has `position` records. */
  static async begin(note: Note, position: number): Promise<LogStarts> {
    const name = randomBytes(6).toString('hex');
    const starts = [...(await readStarts(note)), { name, from: position }].slice(-STARTS_KEPT);
    await note.write(JSON.stringify(starts));
    return new LogStarts(starts);
  }

  /** The name of this start. */
  get current(): string {
    return this.starts[this.starts.length - 1].name;
  }

  /** The place of an id, while the log has `tail` records. */
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

/** Without the note, or with a damaged one, every earlier id belongs to an unknown log. */
async function readStarts(note: Note): Promise<Start[]> {
  try {
    const starts: unknown = JSON.parse((await note.read()) ?? '[]');
    return Array.isArray(starts) && starts.every(isStart) ? starts : [];
  } catch (cause) {
    if (cause instanceof SyntaxError) return [];
    throw cause;
  }
}

function isStart(value: unknown): value is Start {
  const { name, from } = (value ?? {}) as Partial<Start>;
  return typeof name === 'string' && Number.isSafeInteger(from);
}
