import type { Connection, Submittable } from 'pg';

/** The signature, flags and length of the extension of a binary COPY. */
const HEADER_BYTES = 19;

/** Stands in place of a number of fields: the copy is complete. */
const TRAILER = -1;

/** What the driver calls while this is the statement under way. */
interface CopyDataMessage {
  readonly chunk: Buffer;
}

/**
 * `COPY (…) TO STDOUT (FORMAT binary)`, row by row: it costs a third of what rows in text form do.
 * The driver has no COPY itself, but passes its messages to whatever was submitted.
 */
export class CopyOut implements Submittable {
  readonly #select: string;
  readonly #onRow: (fields: readonly Buffer[]) => void;
  readonly #finished = Promise.withResolvers<void>();
  #hasHeader = false;
  /** What `onRow` threw, or what the server said; the rest of the rows is skipped. */
  #failure: { readonly cause: unknown } | undefined;

  constructor(select: string, onRow: (fields: readonly Buffer[]) => void) {
    this.#select = select;
    this.#onRow = onRow;
  }

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  submit(connection: Connection): void {
    connection.query(`COPY (${this.#select}) TO STDOUT (FORMAT binary)`);
  }

  handleCopyData({ chunk }: CopyDataMessage): void {
    if (this.#failure !== undefined) return;
    const start = this.#hasHeader ? 0 : HEADER_BYTES;
    this.#hasHeader = true;
    // The header may come alone or in front of the first row.
    if (chunk.length <= start || chunk.readInt16BE(start) === TRAILER) return;
    try {
      this.#onRow(fieldsOf(chunk, start));
    } catch (cause) {
      this.#failure = { cause };
    }
  }

  handleCommandComplete(): void {}

  handleError(cause: unknown): void {
    this.#failure = { cause };
    this.#finished.reject(cause);
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#finished.resolve();
    else this.#finished.reject(this.#failure.cause);
  }
}

function fieldsOf(chunk: Buffer, start: number): Buffer[] {
  const fields: Buffer[] = [];
  let at = start + 2;
  for (let left = chunk.readInt16BE(start); left > 0; left -= 1) {
    const length = chunk.readInt32BE(at);
    fields.push(chunk.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return fields;
}
