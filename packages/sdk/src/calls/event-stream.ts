import { LIMITS } from '@sluice/protocol/limits';

/** One event of a `text/event-stream`. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
  /** The last id on the stream up to this event; absent on streams without ids. */
  readonly id?: string;
}

/** Browsers and Node both have it, but the compiler knows neither's types here. */
declare const TextDecoder: new () => { decode(bytes: Uint8Array): string };

/** The server closes an event at a small fraction of this, plus at most one large task. */
const EVENT_BYTES_MAX = LIMITS.bodyBytesMax;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Parses a `text/event-stream`, wherever its chunks were split: inside a character, between a
 * carriage return and its line feed, anywhere.
 *
 * event-stream.whole-events: An event is emitted once the empty line after it has arrived, and
 *   never when the stream ends before that (L10).
 * event-stream.bounded-event: The buffered part of an unfinished event is bounded (L9). Beyond the
 *   bound no more events are emitted, because the stream is unusable.
 */
export class EventStreamParser {
  private readonly decoder = new TextDecoder();
  private readonly onEvent: (event: StreamEvent) => void;
  private readonly eventBytesMax: number;
  /** The pieces of the unfinished line, and their total bytes. */
  private pieces: Uint8Array[] = [];
  private pieceBytes = 0;
  /**
   * The last byte was a carriage return, so a line feed right after it does not end another line.
   */
  private isAfterReturn = false;
  private name = '';
  private data: string[] = [];
  /** The last id on the stream, also of a frame without data. */
  lastId: string | undefined;
  /** It counts when its frame is complete. */
  private nextId: string | undefined;
  /** Bytes of the lines of the unfinished event. */
  private eventBytes = 0;

  constructor(onEvent: (event: StreamEvent) => void, eventBytesMax = EVENT_BYTES_MAX) {
    this.onEvent = onEvent;
    this.eventBytesMax = eventBytesMax;
  }

  /**
   * Takes the next chunk, which must not change afterwards. Returns false when an event is too
   * large.
   */
  push(chunk: Uint8Array): boolean {
    let start = 0;
    // Jumps to the next occurrence of each, which is far faster than checking every byte.
    let carriageReturn = nextOf(chunk, CARRIAGE_RETURN, 0);
    let lineFeed = nextOf(chunk, LINE_FEED, 0);
    while (start < chunk.length) {
      const end = Math.min(carriageReturn, lineFeed);
      if (end > start || !this.isAfterReturn || end !== lineFeed) {
        if (!this.keep(chunk.subarray(start, end))) return false;
        if (end < chunk.length) this.endLine();
      }
      this.isAfterReturn = end === carriageReturn && end < chunk.length;
      start = end + 1;
      if (end === lineFeed) lineFeed = nextOf(chunk, LINE_FEED, start);
      if (end === carriageReturn) carriageReturn = nextOf(chunk, CARRIAGE_RETURN, start);
    }
    return true;
  }

  private keep(piece: Uint8Array): boolean {
    if (this.eventBytes + this.pieceBytes + piece.length > this.eventBytesMax) {
      this.eventBytes = Number.POSITIVE_INFINITY;
      return false;
    }
    if (piece.length > 0) this.pieces.push(piece);
    this.pieceBytes += piece.length;
    return true;
  }

  private endLine(): void {
    const line = this.decoder.decode(joined(this.pieces, this.pieceBytes));
    const lineBytes = this.pieceBytes;
    this.pieces = [];
    this.pieceBytes = 0;
    if (line === '') this.endEvent();
    else if (this.takeField(line)) this.eventBytes += lineBytes;
  }

  /** Returns false for lines that are not kept: comments, and fields that are not used. */
  private takeField(line: string): boolean {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.name = value;
    else if (field === 'data') this.data.push(value);
    else if (field === 'id') this.nextId = value;
    else return false;
    return true;
  }

  private endEvent(): void {
    const { name, data } = this;
    this.name = '';
    this.data = [];
    this.eventBytes = 0;
    this.lastId = this.nextId;
    if (data.length === 0) return;
    const event = { name: name === '' ? 'message' : name, data: data.join('\n') };
    this.onEvent(this.lastId === undefined ? event : { ...event, id: this.lastId });
  }
}

/** The end of the chunk when the byte does not occur. */
function nextOf(chunk: Uint8Array, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at < 0 ? chunk.length : at;
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  if (pieces.length === 1) return pieces[0];
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
