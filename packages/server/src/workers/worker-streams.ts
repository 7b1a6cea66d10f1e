import type { SessionId } from '@sluice/core';
import { type MeasuredUse, PING_AFTER_MS } from '@sluice/protocol';
import { TICK_MS } from '../clock/standstill.ts';
import type { Frame, WorkerStream } from './worker-stream.ts';

/** An event on a worker's stream. The session id is secret, so it is not included. */
export interface StreamNotice {
  readonly event: 'opened' | 'resumed' | 'closed' | 'stalled' | 'ended';
  /** The name that the worker gave itself. */
  readonly worker: string;
}

export interface StreamWatch {
  readonly notify: (notice: StreamNotice) => void;
  /** A stream whose reader reads nothing for this long is cut. */
  readonly stalledMs: number;
  /** An idle stream gets a ping after this time. */
  readonly pingMs?: number;
}

const UNWATCHED: StreamWatch = { notify: () => undefined, stalledMs: 30_000 };

/** What a worker measured, and when the server heard of it. */
export interface Measured extends MeasuredUse {
  readonly at: number;
}

/**
 * Maps sessions to their streams, and to what their workers measured. Nothing of it is stored; the
 * core decides which worker runs which task.
 */
export class WorkerStreams {
  private readonly bySession = new Map<SessionId, WorkerStream>();
  /** Names of workers, until their sessions end. */
  private readonly workers = new Map<SessionId, string>();
  /** What workers measured last, until their sessions end. */
  private readonly measured = new Map<SessionId, Measured>();
  /** Streams with staged bytes. */
  private readonly staged = new Set<WorkerStream>();
  private readonly watch: StreamWatch;
  readonly pingMs: number;
  /** No more streams are opened, because the server is stopping. */
  isDraining = false;

  constructor(watch = UNWATCHED) {
    this.watch = watch;
    this.pingMs = watch.pingMs ?? PING_AFTER_MS;
  }

  find(session: SessionId): WorkerStream | undefined {
    return this.bySession.get(session);
  }

  /** Gives the session this stream; a stream that it had before is ended. */
  bind(session: SessionId, stream: WorkerStream, how: { worker: string; resumed: boolean }): void {
    this.bySession.get(session)?.end();
    this.bySession.set(session, stream);
    this.workers.set(session, how.worker);
    this.note(how.resumed ? 'resumed' : 'opened', session);
  }

  /** Removes the stream unless the session has another one by now. */
  unbind(session: SessionId, stream: WorkerStream): void {
    if (this.bySession.get(session) !== stream) return;
    this.bySession.delete(session);
    if (this.workers.has(session)) this.note('closed', session);
  }

  /** The session has ended. */
  ended(session: SessionId): void {
    this.note('ended', session);
    this.workers.delete(session);
    this.measured.delete(session);
  }

  /** A session that has ended by now is not kept. */
  measure(session: SessionId, measured: Measured): void {
    if (this.workers.has(session)) this.measured.set(session, measured);
  }

  measuredBy(session: SessionId): Measured | undefined {
    return this.measured.get(session);
  }

  markStaged(stream: WorkerStream): void {
    this.staged.add(stream);
  }

  /** Seals all staged bytes, as one frame per stream. */
  seal(): { readonly stream: WorkerStream; readonly frame: Frame }[] {
    const frames: { stream: WorkerStream; frame: Frame }[] = [];
    for (const stream of this.staged) {
      const frame = stream.seal();
      if (frame !== undefined) frames.push({ stream, frame });
    }
    this.staged.clear();
    return frames;
  }

  /**
   * Runs every `TICK_MS`. Sends pings to idle workers, and cuts streams whose workers do not read.
   * It counts ticks, not time: during a standstill the process itself did not run.
   */
  tick(now: number): void {
    for (const [session, stream] of this.bySession) {
      if (stream.stalledTicks() * TICK_MS > this.watch.stalledMs) {
        this.note('stalled', session);
        stream.cut();
      } else if (now - stream.lastWriteAt >= this.pingMs) {
        stream.signal('ping');
      }
    }
  }

  /** Tells every worker to reconnect elsewhere and ends the streams. */
  drain(): void {
    this.isDraining = true;
    for (const stream of this.bySession.values()) {
      stream.signal('drain');
      stream.end();
    }
  }

  private note(event: StreamNotice['event'], session: SessionId): void {
    this.watch.notify({ event, worker: this.workers.get(session) ?? 'unknown' });
  }
}
