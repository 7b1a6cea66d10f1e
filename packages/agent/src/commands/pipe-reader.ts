import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';

/** Reads a named pipe until it is closed and empty. */
export class PipeReader {
  readonly ended: Promise<void>;
  private readonly socket: Socket;
  private keeper: number | undefined;

  constructor(path: string, onBytes: (bytes: Uint8Array) => void) {
    // While this end is open, a pipe without a writer does not end.
    this.keeper = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.socket = new Socket({ fd, readable: true, writable: false });
    this.socket.on('data', onBytes);
    this.socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  /** The writers are gone: what is in the pipe is the end. */
  close(): void {
    if (this.keeper === undefined) return;
    closeSync(this.keeper);
    this.keeper = undefined;
  }

  /** Drops what is still in the pipe. */
  destroy(): void {
    this.close();
    this.socket.destroy();
  }
}
