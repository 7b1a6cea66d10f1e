import type { Followed } from '../calls/followed-stream.ts';
import { SluiceError } from '../calls/sluice-error.ts';
import type { EventOptions, TaskEvent } from '../operators/operator-port.ts';
import type { TaskChange } from '../operators/operator-types.ts';
import type { InProcessServer } from './server/in-process-server.ts';
import { TaskChanges } from './task-changes.ts';

const ID_PREFIX = 'test-';

/** The changes of all tasks, from the first time on that they are followed. */
export class InProcessEvents {
  private readonly server: InProcessServer;
  private changes: TaskChanges | undefined;
  private readonly all: TaskChange[] = [];
  /** Called when there are more. */
  private readonly followers = new Set<() => void>();

  constructor(server: InProcessServer) {
    this.server = server;
  }

  follow({ task, type, after, signal }: EventOptions): Followed<TaskEvent> {
    this.begin();
    const isKnown = task === undefined || this.server.find(task) !== undefined;
    const wanted = (change: TaskChange): boolean =>
      (task === undefined || change.task === task) && (type === undefined || change.type === type);
    return new InProcessFollower({
      start: this.placeAfter(after),
      signal,
      refusal: isKnown
        ? undefined
        : new SluiceError('task_not_found', `no task '${task}'`, { status: 404 }),
      eventAt: (place) => {
        if (place < 0) return { kind: 'gap', from: 0, to: this.all.length, lastEventId: idOf(0) };
        const change = this.all[place];
        if (!wanted(change)) return undefined;
        return { kind: 'change', ...change, lastEventId: idOf(place + 1) };
      },
      end: () => this.all.length,
      onMore: (wake) => {
        this.followers.add(wake);
        return () => this.followers.delete(wake);
      },
    });
  }

  private begin(): void {
    if (this.changes !== undefined) return;
    const changes = new TaskChanges(this.server.partition.state);
    this.changes = changes;
    this.server.onBatch = (batch) => {
      this.all.push(...changes.read(batch));
      for (const wake of this.followers) wake();
    };
  }

  /** Where to begin; -1 for a gap before everything. */
  private placeAfter(after: string | null | undefined): number {
    if (after == null) return this.all.length;
    const place = Number(after.slice(ID_PREFIX.length));
    const isOurs = after.startsWith(ID_PREFIX) && place >= 0 && place <= this.all.length;
    return isOurs ? place : -1;
  }
}

function idOf(count: number): string {
  return `${ID_PREFIX}${count}`;
}

interface FollowerParts {
  readonly start: number;
  readonly signal: AbortSignal | undefined;
  readonly refusal: Error | undefined;
  /** The event at a place; undefined when it is not wanted. */
  readonly eventAt: (place: number) => TaskEvent | undefined;
  readonly end: () => number;
  readonly onMore: (wake: () => void) => () => void;
}

class InProcessFollower implements Followed<TaskEvent> {
  readonly opened: Promise<void>;
  private readonly parts: FollowerParts;
  private place: number;
  private isClosed = false;
  private readonly forget: () => void;
  private wake: () => void = () => undefined;

  constructor(parts: FollowerParts) {
    this.parts = parts;
    this.place = parts.start;
    this.opened = parts.refusal === undefined ? Promise.resolve() : Promise.reject(parts.refusal);
    // A reader that does not look at it gets the error from the loop.
    this.opened.catch(() => undefined);
    this.forget = parts.onMore(() => this.wake());
    parts.signal?.addEventListener('abort', () => this.wake());
  }

  close(): void {
    this.isClosed = true;
    this.forget();
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TaskEvent, void, undefined> {
    await this.opened;
    try {
      while (!this.isClosed) {
        this.parts.signal?.throwIfAborted();
        if (this.place < this.parts.end()) {
          const event = this.parts.eventAt(this.place);
          this.place += 1;
          if (event !== undefined) yield event;
        } else {
          await new Promise<void>((resolve) => {
            this.wake = resolve;
          });
        }
      }
    } finally {
      this.close();
    }
  }
}
