import {
  type AttachSession,
  type Command,
  DEFAULT_NAMESPACE,
  RecordWriter,
  type Replies,
  type SessionId,
} from '@sluice/core';
import { UTF8 } from '../../base/utf8.ts';
import { Simulation } from '../../kernel/simulation.ts';
import { WatchedPartition } from '../../server/watched-partition.ts';
import type { Checker } from '../story/checker.ts';
import { LogStory } from '../story/log-story.ts';

const LIMITS = {
  tasksMax: 500,
  payloadBytesMax: 10_000,
  finishedTasksMax: 5,
  deadLettersMax: 5,
  callbacksMax: 5,
  dedupeKeysMax: 10,
  unsentBytesMax: 10_000,
  sessionsMax: 5,
};

/** A real partition. Its log is told batch by batch, to a story and to any checkers. */
export class ToldPartition {
  readonly story = new LogStory(new Simulation({ seed: 1 }));
  readonly listeners: Checker[] = [this.story];
  readonly limits = LIMITS;
  readonly partition: WatchedPartition;
  private writer = new RecordWriter(UTF8);
  private tail = 0;
  private now = 1000;

  constructor() {
    const options = { partition: 0, limits: LIMITS, utf8: UTF8 };
    this.partition = new WatchedPartition(options, {
      executed: (command, reply, partition) => {
        for (const each of this.listeners) each.executed?.(command, reply, partition);
      },
    });
    this.story.booted(this.partition, { epoch: 1, first: 0, tail: 0 });
  }

  do<C extends Command>(command: C): Replies[C['type']] {
    return this.partition.execute(command, this.writer);
  }

  submit(text = '{"n":1}'): void {
    const inputs = new TextEncoder().encode(text);
    const tasks = [{ type: 'a' }];
    const inputEnds = [inputs.length];
    this.now += 1;
    const { now } = this;
    const namespace = DEFAULT_NAMESPACE;
    this.do({ type: 'submit_tasks', now, namespace, tasks, inputs, inputEnds });
  }

  attach(beside: Partial<AttachSession> = {}): Replies['attach_session'] {
    return this.do({
      type: 'attach_session',
      now: this.now,
      newSession: 's_1' as SessionId,
      namespace: DEFAULT_NAMESPACE,
      worker: 'worker',
      version: '1',
      types: [{ type: 'a' }],
      capacity: { slots: 4 },
      labels: new Map(),
      leaseMs: 5000,
      ...beside,
    });
  }

  /** The batch that would be appended next. */
  get batch() {
    const { recordCount, bytes, length } = this.writer;
    return { recordCount, bytes: bytes.slice(0, length), epoch: 1, nonce: 1 };
  }

  commit() {
    const { batch } = this;
    const firstRecord = this.tail;
    this.tail += batch.recordCount;
    for (const each of this.listeners) each.committed?.({ ...batch, expectedTail: firstRecord });
    // The watch reads a batch when the next one begins, so its memory is not used again.
    this.writer = new RecordWriter(UTF8);
    return { ...batch, firstRecord };
  }
}
