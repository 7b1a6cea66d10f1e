import type { SessionId } from '@sluice/core';
import { PING_AFTER_MS } from '@sluice/protocol';
import type { Frame, WorkerStream } from './worker-stream.ts';

/**
 * Which stream belongs to which session. Holds sockets only; who may run what is the core's to
 * know.
 */
export class WorkerStreams {
  private readonly bySession = new Map<SessionId, WorkerStream>();
  /** Streams with staged bytes. */
  private readonly staged = new Set<WorkerStream>();

  find(session: SessionId): WorkerStream | undefined {
    return this.bySession.get(session);
  }

  /** The stream is the session's from now on; one that it had before is ended. */
  bind(session: SessionId, stream: WorkerStream): void {
    this.bySession.get(session)?.end();
    this.bySession.set(session, stream);
  }

  /** Forgets the stream unless the session has another one by now. */
  unbind(session: SessionId, stream: WorkerStream): void {
    if (this.bySession.get(session) === stream) this.bySession.delete(session);
  }

  markStaged(stream: WorkerStream): void {
    this.staged.add(stream);
  }

  /** What to write to whom, of all that was staged. */
  seal(): { readonly stream: WorkerStream; readonly frame: Frame }[] {
    const frames: { stream: WorkerStream; frame: Frame }[] = [];
    for (const stream of this.staged) {
      const frame = stream.seal();
      if (frame !== undefined) frames.push({ stream, frame });
    }
    this.staged.clear();
    return frames;
  }

  pingSilent(now: number): void {
    for (const stream of this.bySession.values()) {
      if (now - stream.lastWriteAt >= PING_AFTER_MS) stream.signal('ping');
    }
  }

  /** Tells every worker to go elsewhere and ends the streams. */
  drain(): void {
    for (const stream of this.bySession.values()) {
      stream.signal('drain');
      stream.end();
    }
  }
}
