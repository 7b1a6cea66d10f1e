import type { ServerResponse } from 'node:http';

export interface Pace {
  readonly contentType: string;
  /** A reader that takes nothing for so long is cut. */
  readonly stalledMs: number;
}

/**
 * An answer in pieces: the next one is written when the reader has taken the one before, so that a
 * slow reader costs no memory.
 */
export class PacedAnswer {
  private readonly raw: ServerResponse;
  private readonly stalledMs: number;
  private readonly gone = new AbortController();
  /** Set while what was written has not left; whoever waits for that. */
  private blocked: { readonly free: () => void; readonly isFree: Promise<void> } | undefined;
  /** Runs while the reader takes nothing. */
  private cutting: NodeJS.Timeout | undefined;

  constructor(raw: ServerResponse, { contentType, stalledMs }: Pace) {
    this.raw = raw;
    this.stalledMs = stalledMs;
    raw.once('close', () => this.leave());
    raw.on('error', () => this.leave());
    raw.on('drain', () => this.unblock());
    raw.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-store' });
    // The reader hears at once that he is heard, also while nothing is written.
    raw.flushHeaders();
  }

  /** Fires when the reader is gone. */
  get signal(): AbortSignal {
    return this.gone.signal;
  }

  get isBlocked(): boolean {
    return this.blocked !== undefined;
  }

  /** Resolves when the next one may be written, or when nobody reads any more. */
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
