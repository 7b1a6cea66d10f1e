import type { ServerResponse } from 'node:http';

export interface Pace {
  readonly contentType: string;
  /** A reader that reads nothing for this long is cut. */
  readonly stalledMs: number;
}

/**
 * An answer in pieces. The next piece is written when the reader has taken the one before, so a
 * slow reader costs no memory.
 */
export class PacedAnswer {
  private readonly raw: ServerResponse;
  private readonly stalledMs: number;
  private readonly gone = new AbortController();
  /** Set while written data waits to be sent; writers wait for `isFree`. */
  private blocked: { readonly free: () => void; readonly isFree: Promise<void> } | undefined;
  /** Runs while the reader reads nothing. */
  private cutting: NodeJS.Timeout | undefined;

  constructor(raw: ServerResponse, { contentType, stalledMs }: Pace) {
    this.raw = raw;
    this.stalledMs = stalledMs;
    raw.once('close', () => this.leave());
    raw.on('error', () => this.leave());
    raw.on('drain', () => this.unblock());
    raw.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
    // The client gets the headers at once, even while there is nothing to write.
    raw.flushHeaders();
  }

  /** Aborted when the reader is gone. */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get isBlocked(): boolean {
    return this.blocked !== undefined;
  }

  /** Resolves when the next piece may be written, or when the reader is gone. */
  async write(piece: string | Uint8Array): Promise<void> {
    if (this.signal.aborted) return;
    const isTaken = this.raw.write(piece);
    if (!isTaken && this.blocked === undefined) this.block();
    await this.blocked?.isFree;
  }

  end(): void {
    this.raw.end();
  }

  cut(): void {
    this.raw.destroy();
    this.leave();
  }

  private block(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.blocked = { free: resolve, isFree: promise };
    this.cutting = setTimeout(() => this.cut(), this.stalledMs);
  }

  private unblock(): void {
    clearTimeout(this.cutting);
    this.blocked?.free();
    this.blocked = undefined;
  }

  private leave(): void {
    this.gone.abort();
    this.unblock();
  }
}
