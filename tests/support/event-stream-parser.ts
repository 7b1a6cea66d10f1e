/** One event of a `text/event-stream`. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Takes a `text/event-stream` apart, wherever its chunks were cut: inside a character, between a
 * carriage return and its line feed, anywhere.
 *
 * An event counts only once the empty line behind it is here; what a broken connection leaves
 * unfinished never comes out.
 */
export class EventStreamParser {
  private readonly onEvent: (event: StreamEvent) => void;
  /** The bytes of the line that has not ended yet. */
  private rest: Buffer = Buffer.alloc(0);
  /** The last byte was a carriage return, so a line feed right behind it ends no other line. */
  private afterReturn = false;
  private name = '';
  private data: string[] = [];

  constructor(onEvent: (event: StreamEvent) => void) {
    this.onEvent = onEvent;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      const endsLine = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (byte === LINE_FEED && this.afterReturn) start = at + 1;
      else if (endsLine) {
        this.takeLine(chunk.subarray(start, at));
        start = at + 1;
      }
      this.afterReturn = byte === CARRIAGE_RETURN;
    }
    if (start < chunk.length) this.rest = Buffer.concat([this.rest, chunk.subarray(start)]);
  }

  private takeLine(end: Buffer): void {
    const line = this.rest.length === 0 ? end : Buffer.concat([this.rest, end]);
    this.rest = Buffer.alloc(0);
    if (line.length === 0) this.finishEvent();
    else this.takeField(line.toString());
  }

  private takeField(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.name = value;
    if (field === 'data') this.data.push(value);
  }

  private finishEvent(): void {
    const { name, data } = this;
    this.name = '';
    this.data = [];
    if (data.length === 0) return;
    this.onEvent({ name: name === '' ? 'message' : name, data: data.join('\n') });
  }
}
