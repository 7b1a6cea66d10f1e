import { findTask, isTerminal, NO_SLOT, TASK_STATES, type TaskNumber } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { LIMITS, PING_AFTER_MS } from '@sluice/protocol';
import type { FastifyReply } from 'fastify';
import { FollowerStream } from '../http/follower-stream.ts';
import type { TaskWaiters } from '../tasks/task-waiters.ts';
import type { AttemptLines } from './log-file.ts';
import { shownLines } from './newest-lines.ts';
import type { TaskLines } from './task-logs.ts';

export interface FollowerParts {
  readonly engine: Engine;
  readonly waiters: TaskWaiters;
  readonly logs: TaskLines;
  /** A reader that reads nothing for this long is cut. */
  readonly stalledMs: number;
}

/**
 * Maximum characters of lines that wait for a slow reader. Beyond it, they are read from the files
 * again.
 */
const PENDING_CHARACTERS_MAX = 1024 * 1024;

/** Approximate maximum of one event: a reader that takes it shows that it is reading. */
const EVENT_CHARACTERS_MAX = 64 * 1024;

interface FollowedTask {
  readonly namespace: string;
  readonly id: string;
}

/** Clients that follow the lines of tasks. */
export class LogFollowers {
  private readonly parts: FollowerParts;
  private readonly followers = new Set<Follower>();
  private isStopping = false;

  constructor(parts: FollowerParts) {
    this.parts = parts;
  }

  /** Sends the existing lines, new lines, and the end of the task, as server-sent events. */
  async follow(task: FollowedTask, reply: FastifyReply): Promise<void> {
    const { raw } = reply.hijack();
    const follower = new Follower(this.parts, task, new FollowerStream(raw, this.parts.stalledMs));
    this.followers.add(follower);
    if (this.isStopping) follower.stop();
    await follower.run();
    this.followers.delete(follower);
  }

  /** The server is stopping and tells its followers. */
  stop(): void {
    this.isStopping = true;
    for (const follower of this.followers) follower.stop();
  }
}

class Follower {
  private readonly parts: FollowerParts;
  private readonly namespace: string;
  private readonly id: string;
  private readonly stream: FollowerStream;
  private readonly stopped = new AbortController();
  /**
   * The last report sent, by lease. The same report may come from the files and from the listener.
   */
  private readonly sent = new Map<number, number>();
  private pending: AttemptLines[] = [];
  private pendingCharacters = 0;
  /** The files contain more than was sent or is pending. */
  private isBehind = true;
  /** The final state of the task; empty before its end. */
  private state = '';
  private wake: () => void = () => undefined;

  constructor(parts: FollowerParts, { namespace, id }: FollowedTask, stream: FollowerStream) {
    this.parts = parts;
    this.namespace = namespace;
    this.id = id;
    this.stream = stream;
    stream.signal.addEventListener('abort', () => this.stopped.abort());
    this.stopped.signal.addEventListener('abort', () => this.wake());
  }

  stop(): void {
    // A blocked reader would not get the `drain` event, and the stop would wait for it.
    if (this.stream.isBlocked) this.stream.cut();
    this.stopped.abort();
  }

  async run(): Promise<void> {
    const { logs } = this.parts;
    const unfollow = logs.follow(this.id, (lines) => this.hear(lines));
    const ping = setInterval(() => {
      if (!this.stream.isBlocked) void this.stream.send('ping', {});
    }, PING_AFTER_MS);
    try {
      await Promise.all([this.awaitEnd(), this.sendLines()]);
      if (this.stopped.signal.aborted) await this.stream.send('drain', {});
      else await this.stream.send('end', { state: this.state });
    } catch {
      // The answer has begun, so its end without an `end` event tells the client that something
      // went wrong.
      this.stopped.abort();
    } finally {
      unfollow();
      clearInterval(ping);
      this.stream.end();
    }
  }

  private hear(lines: AttemptLines): void {
    this.wake();
    if (this.isBehind) return;
    this.pending.push(lines);
    this.pendingCharacters += charactersOf(lines);
    if (this.pendingCharacters <= PENDING_CHARACTERS_MAX) return;
    this.pending = [];
    this.pendingCharacters = 0;
    this.isBehind = true;
  }

  private async sendLines(): Promise<void> {
    while (!this.stopped.signal.aborted) {
      const next = this.pending.shift();
      if (next !== undefined) {
        this.pendingCharacters -= charactersOf(next);
        await this.sendOnce(next);
      } else if (this.isBehind) {
        await this.catchUp();
      } else if (this.state !== '') {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
    }
  }

  private async catchUp(): Promise<void> {
    // From here on new lines are pending, because the files may be read before they are written.
    this.isBehind = false;
    for await (const entries of this.parts.logs.readByLease(this.id)) {
      for (const lines of entries) {
        if (this.stopped.signal.aborted) return;
        await this.sendOnce(lines);
      }
    }
  }

  private async sendOnce(lines: AttemptLines): Promise<void> {
    if (lines.seq <= (this.sent.get(lines.lease) ?? 0)) return;
    this.sent.set(lines.lease, lines.seq);
    let piece: object[] = [];
    let characters = 0;
    for (const [place, line] of shownLines(lines).entries()) {
      piece.push(line);
      characters += lines.lines[place].length;
      if (characters < EVENT_CHARACTERS_MAX) continue;
      await this.stream.send('lines', piece);
      if (this.stopped.signal.aborted) return;
      piece = [];
      characters = 0;
    }
    if (piece.length > 0) await this.stream.send('lines', piece);
  }

  /** Settles when the task has ended and its lines are written, or when the follower is gone. */
  private async awaitEnd(): Promise<void> {
    const { signal } = this.stopped;
    let state: string | undefined;
    while (state === undefined && !signal.aborted) state = await this.endWithin(LIMITS.waitMsMax);
    await this.parts.logs.written(this.id);
    this.state = state ?? '';
    this.wake();
  }

  /** The final state of the task, or undefined when the time is up. */
  private async endWithin(timeoutMs: number): Promise<string | undefined> {
    const { engine, waiters } = this.parts;
    const seen = await engine.read((state) => {
      const slot = findTask(state, this.namespace, this.id);
      // It ended, and has left memory since.
      if (slot === NO_SLOT) return { state: 'unknown' };
      if (isTerminal(state.tasks.state[slot]))
        return { state: TASK_STATES[state.tasks.state[slot]] };
      const task = state.tasks.number[slot] as TaskNumber;
      // Registered in the same turn in which the task was seen open: it may end in the next one.
      return { views: waiters.waitForAny(this.namespace, [task], timeoutMs, this.stopped.signal) };
    });
    if (seen.views === undefined) return seen.state;
    const [view] = await seen.views;
    return view === undefined ? undefined : (JSON.parse(view) as { state: string }).state;
  }
}

function charactersOf({ lines }: AttemptLines): number {
  return lines.reduce((sum, { length }) => sum + length + 1, 0);
}
