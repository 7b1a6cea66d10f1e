import type { StreamSink } from '../workers/worker-stream.ts';

/** Called with each event of the stream. */
type OnEvent = (name: string, data: unknown) => void;

/** The end of a worker's stream inside the server: events are parsed as they are written. */
export class LocalSink implements StreamSink {
  headersSent = false;
  writableEnded = false;
  private readonly onEvent: OnEvent;
  private readonly onClose: (() => void)[] = [];

  constructor(onEvent: OnEvent) {
    this.onEvent = onEvent;
  }

  writeHead(): void {
    this.headersSent = true;
  }

  /** Every write has whole events. */
  write(bytes: Buffer, written: (error?: Error | null) => void): void {
    for (const block of bytes.toString().split('\n\n')) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
      if (name !== undefined) this.onEvent(name, JSON.parse(data));
    }
    // The writer does not expect an answer while it writes.
    setImmediate(written);
  }

  end(): void {
    this.close();
  }

  destroy(): void {
    this.close();
  }

  on(): void {
    // Nothing here can go wrong.
  }

  once(_event: 'close', listener: () => void): void {
    this.onClose.push(listener);
  }

  private close(): void {
    if (this.writableEnded) return;
    this.writableEnded = true;
    for (const listener of this.onClose) listener();
  }
}
