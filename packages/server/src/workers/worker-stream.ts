import {
  isBlobReference,
  LEASE_TOKEN_LENGTH,
  type LeaseNumber,
  pushCost,
  type ReadonlyState,
  type Shape,
  type Slot,
  TASK_ID_LENGTH,
  type TaskNumber,
  writeLeaseToken,
  writeTaskId,
} from '@sluice/core';
import { ByteBuilder } from '../base/byte-builder.ts';
import { hasEnvelope, isExecType } from '../base/exec-envelope.ts';

/** A `tasks` event is closed at this size and another one begun. */
const EVENT_BYTES_MAX = 256 * 1024;

const FRAME_BYTES_MIN = 1024;
const FRAME_BYTES_HINT_MAX = 64 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** Receives a stream's bytes: an HTTP answer, or a connection in a simulated network. */
export interface StreamSink {
  /** The connection, if writes to it can be held back for a moment; null when it is closed. */
  readonly socket?: { cork(): void; uncork(): void } | null;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  /** Calls `written` when the bytes were sent, or with an error. */
  write(bytes: Buffer, written: (error?: Error | null) => void): unknown;
  end(): unknown;
  destroy(): unknown;
  on(event: 'error', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** The bytes of one write. */
export interface Frame {
  readonly bytes: Buffer;
  /** Cost of its tasks, as the core counts it. */
  readonly cost: number;
}

/**
 * The stream of one worker session. Events are staged while commands run, and written once they are
 * durable. There is one write per commit, however many tasks it contains.
 */
export class WorkerStream {
  private readonly response: StreamSink;
  private readonly monotonic: () => number;
  /** Staged but not sealed bytes; `undefined` when there are none. */
  private frame: ByteBuilder | undefined;
  /** Where the open `tasks` event begins in the frame; -1 when none is open. */
  private tasksStart = -1;
  /** Cost of the tasks in the frame. */
  private cost = 0;
  private frameBytesHint = FRAME_BYTES_MIN;
  private closed = false;
  lastWriteAt: number;
  /** Writes that have not left this process, because the reader has no room for them. */
  private unreadWrites = 0;
  /** Ticks since the last flush while writes are pending. */
  private ticksUnread = 0;
  /** Set by the session's owner. */
  onSent: (cost: number) => void = () => undefined;

  constructor(response: StreamSink, monotonic: () => number) {
    this.response = response;
    this.monotonic = monotonic;
    this.lastWriteAt = monotonic();
    response.once('close', () => {
      this.closed = true;
    });
    // A lost connection causes an error here and a close elsewhere. The close is handled.
    response.on('error', () => undefined);
  }

  stageEvent(name: string, data: unknown, cost = 0): void {
    this.closeTasks();
    this.cost += cost;
    const frame = this.openFrame();
    const text = Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    frame.copy(text, 0, text.length);
  }

  /** Adds a task with its current lease to the `tasks` event that goes out with this commit. */
  stageTask(state: ReadonlyState, slot: Slot): void {
    const frame = this.openFrame();
    if (this.tasksStart < 0) {
      this.tasksStart = frame.length;
      frame.ascii('event: tasks\ndata: [');
    } else {
      frame.ascii(',');
    }
    writeTask(frame, state, slot);
    this.cost += pushCost(state, slot);
    if (frame.length - this.tasksStart > EVENT_BYTES_MAX) this.closeTasks();
  }

  /** Takes the staged bytes, ready to be written. */
  seal(): Frame | undefined {
    this.closeTasks();
    const { frame } = this;
    if (frame === undefined) return undefined;
    this.frame = undefined;
    const { cost } = this;
    this.cost = 0;
    const hint = Math.ceil(frame.length * 1.25);
    this.frameBytesHint = Math.min(Math.max(FRAME_BYTES_MIN, hint), FRAME_BYTES_HINT_MAX);
    return { bytes: frame.take(), cost };
  }

  /** Writes a frame; calls `onSent` with its cost once it has left this process. */
  send({ bytes, cost }: Frame): void {
    this.write(bytes, () => this.onSent(cost));
  }

  private write(bytes: Buffer, sent?: () => void): void {
    if (this.closed || this.response.writableEnded) return;
    this.lastWriteAt = this.monotonic();
    // The headers also wait for the first commit: a status is an answer (L2).
    if (!this.response.headersSent) this.response.writeHead(200, HEADERS);
    this.unreadWrites += 1;
    const { socket } = this.response;
    // Node would hold the parts of a chunk back until the answers of the same commit are written.
    socket?.cork();
    this.response.write(bytes, (error) => {
      this.unreadWrites -= 1;
      this.ticksUnread = 0;
      // An error also ends the stream, which is handled elsewhere.
      if (error === null || error === undefined) sent?.();
    });
    socket?.uncork();
  }

  onClose(listener: () => void): void {
    this.response.once('close', listener);
  }

  /** Writes an event without data that need not wait for a commit. */
  signal(name: 'ping' | 'drain'): void {
    // Before the welcome is durable nothing may be sent, not even that the session was accepted
    // (L2).
    if (this.response.headersSent) this.write(Buffer.from(`event: ${name}\ndata: {}\n\n`));
  }

  /** Number of consecutive calls during which the reader has taken none of the pending bytes. */
  stalledTicks(): number {
    if (this.unreadWrites > 0) this.ticksUnread += 1;
    return this.ticksUnread;
  }

  /** Does not wait for pending writes, because the worker does not read them. */
  cut(): void {
    this.response.destroy();
  }

  end(): void {
    if (this.response.writableEnded) return;
    if (this.response.headersSent) this.response.end();
    else this.response.destroy();
  }

  private openFrame(): ByteBuilder {
    this.frame ??= new ByteBuilder(this.frameBytesHint);
    return this.frame;
  }

  private closeTasks(): void {
    if (this.tasksStart < 0) return;
    this.tasksStart = -1;
    this.frame?.ascii(']\n\n');
  }
}

function writeTask(frame: ByteBuilder, state: ReadonlyState, slot: Slot): void {
  const { tasks } = state;
  frame.ascii('{"id":"');
  const id = frame.extend(TASK_ID_LENGTH);
  writeTaskId(id.bytes, id.at, {
    submittedAt: tasks.submittedAt[slot],
    partition: state.partition,
    number: tasks.number[slot] as TaskNumber,
  });
  frame.ascii('","type":"');
  frame.ascii(state.typeOf(slot));
  frame.ascii('","attempt":');
  frame.ascii(String(tasks.attempt[slot]));
  frame.ascii(',"lease":"');
  const lease = frame.extend(LEASE_TOKEN_LENGTH);
  writeLeaseToken(lease.bytes, lease.at, {
    partition: state.partition,
    slot,
    number: tasks.lease[slot] as LeaseNumber,
  });
  frame.ascii('","resources":');
  frame.ascii(resourcesText(state.texts.shape.at(tasks.shape[slot])));
  writeInput(frame, state, slot);
  writeExtras(frame, state, slot);
  frame.ascii('}');
}

/** Fields that most tasks do not have. */
function writeExtras(frame: ByteBuilder, state: ReadonlyState, slot: Slot): void {
  const { tasks } = state;
  if (tasks.timeouts[slot] !== 0) {
    const { runMs, heartbeatMs } = state.texts.timeouts.at(tasks.timeouts[slot]);
    if (Number.isFinite(runMs)) frame.ascii(`,"runTimeoutMs":${runMs}`);
    if (Number.isFinite(heartbeatMs)) frame.ascii(`,"heartbeatTimeoutMs":${heartbeatMs}`);
  }
  if (tasks.retry[slot] !== 0) {
    const { maxAttempts } = state.texts.retry.at(tasks.retry[slot]);
    frame.ascii(`,"maxAttempts":${maxAttempts}`);
  }
  if (tasks.tags[slot] === 0) return;
  const tags = Buffer.from(state.texts.tags.textAt(tasks.tags[slot]));
  frame.ascii(',"tags":');
  frame.copy(tags, 0, tags.length);
}

/** Many tasks share a shape, so its text is cached; names of resources are plain ASCII. */
const RESOURCES_TEXTS = new WeakMap<Shape, string>();

function resourcesText(shape: Shape): string {
  const known = RESOURCES_TEXTS.get(shape);
  if (known !== undefined) return known;
  const text = JSON.stringify(shape.resources);
  RESOURCES_TEXTS.set(shape, text);
  return text;
}

function writeInput(frame: ByteBuilder, state: ReadonlyState, slot: Slot): void {
  const length = state.tasks.inputLength[slot];
  if (length === 0) {
    frame.ascii(',"input":null');
    return;
  }
  const reference = state.tasks.input[slot];
  const bytes = state.payloads.bytesOf(reference);
  const start = state.payloads.startOf(reference);
  if (isBlobReference(bytes, start, length)) {
    frame.ascii(',"inputBlob":"');
    // The name follows the mark.
    frame.copy(bytes, start + 1, length - 1);
    frame.ascii('"');
    return;
  }
  if (isExecType(state.typeOf(slot)) && hasEnvelope(bytes, start, length)) {
    // The members of the envelope are fields of the task.
    frame.ascii(',');
    frame.copy(bytes, start + 1, length - 2);
    return;
  }
  frame.ascii(',"input":');
  frame.copy(bytes, start, length);
}
