import {
  type Command,
  DEFAULT_NAMESPACE,
  type Event,
  RecordWriter,
  type SessionId,
} from '@sluice/core';
import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../clients/history.ts';
import { Simulation } from '../../kernel/simulation.ts';
import { WatchedPartition } from '../../server/watched-partition.ts';
import { MemoryOfLog } from '../memory-of-log.ts';
import { LogStory } from './log-story.ts';

const UTF8 = {
  encode: (text: string) => new TextEncoder().encode(text),
  decode: (bytes: Uint8Array) => new TextDecoder().decode(bytes),
};

const LIMITS = {
  tasksMax: 20,
  payloadBytesMax: 10_000,
  finishedTasksMax: 5,
  deadLettersMax: 5,
  dedupeKeysMax: 10,
  unsentBytesMax: 10_000,
  sessionsMax: 5,
};

/** A real partition whose log is told batch by batch. */
class Told {
  readonly story = new LogStory(new Simulation({ seed: 1 }));
  readonly entries: HistoryEntry[] = [];
  readonly memory = new MemoryOfLog(this.story, this.entries);
  readonly events: Event['type'][] = [];
  readonly partition: WatchedPartition;
  private readonly writer = new RecordWriter(UTF8);
  private tail = 0;

  constructor() {
    const options = { partition: 0, limits: LIMITS, utf8: UTF8 };
    this.partition = new WatchedPartition(options, {
      executed: (command, reply, partition) => {
        this.story.executed(command, reply, partition);
        this.memory.executed(command, reply, partition);
      },
    });
    this.story.rules.push({ event: ({ type }) => void this.events.push(type) });
    this.story.booted(this.partition, { epoch: 1, first: 0, tail: 0 });
  }

  do(command: Command): void {
    this.partition.execute(command, this.writer);
  }

  get batch() {
    const { recordCount, bytes, length } = this.writer;
    return { recordCount, bytes: bytes.slice(0, length), epoch: 1, nonce: 1 };
  }

  commit(): void {
    const { batch } = this;
    this.story.committed({ ...batch, expectedTail: this.tail });
    this.tail += batch.recordCount;
    this.writer.reset();
  }
}

function submit(now: number, text = '{"n":1}'): Command {
  const inputs = new TextEncoder().encode(text);
  const tasks = [{ type: 'a' }];
  const inputEnds = [inputs.length];
  return { type: 'submit_tasks', now, namespace: DEFAULT_NAMESPACE, tasks, inputs, inputEnds };
}

const ATTACH: Command = {
  type: 'attach_session',
  now: 1000,
  newSession: 's_1' as SessionId,
  namespace: DEFAULT_NAMESPACE,
  worker: 'worker',
  version: '1',
  types: [{ type: 'a' }],
  capacity: { slots: 4 },
  labels: new Map(),
  leaseMs: 5000,
};

test('commands are told in order with their events, once they are durable', () => {
  const told = new Told();
  const types: string[] = [];
  told.story.rules.push({ begins: ({ command }) => void types.push(command.type) });
  told.do(submit(1000));
  told.do(ATTACH);
  expect(types).toEqual([]);
  told.commit();
  expect(types).toEqual(['submit_tasks', 'attach_session']);
  expect(told.events).toEqual(['task_submitted', 'attempt_leased']);
  const [task] = told.story.tasks.values();
  expect(task).toMatchObject({ phase: 'leased', attempt: 1, session: 's_1', input: '{"n":1}' });
  expect(told.story.get(task.id)).toBe(task);
  expect([...told.story.heldBy('s_1')]).toEqual([task]);
});

test('a command without a record is told when all before it is', () => {
  const told = new Told();
  const types: string[] = [];
  told.story.rules.push({ begins: ({ command }) => void types.push(command.type) });
  told.do(ATTACH);
  expect(types).toEqual(['attach_session']);
  told.do(submit(1000));
  told.do({ type: 'expire_sessions', now: 1001 });
  expect(types).toEqual(['attach_session']);
  told.commit();
  expect(types).toEqual(['attach_session', 'submit_tasks', 'expire_sessions']);
});

test('what a command pointed at may be used again', () => {
  const told = new Told();
  const inputs: string[] = [];
  told.story.rules.push({
    begins: ({ command }) => {
      if (command.type === 'submit_tasks') inputs.push(UTF8.decode(command.inputs));
    },
  });
  const command = submit(1000);
  told.do(command);
  if (command.type === 'submit_tasks') command.inputs.fill(0);
  told.commit();
  expect(inputs).toEqual(['{"n":1}']);
});

test('what landed without anybody hearing so is told at the next start', () => {
  const told = new Told();
  told.do(submit(1000));
  told.do(submit(1001));
  const { batch } = told;
  told.story.stopped();
  told.story.read({ ...batch, firstRecord: 0 });
  told.story.booted(told.partition, { epoch: 2, first: 0, tail: 2 });
  expect(told.events).toEqual(['task_submitted', 'task_submitted']);
});

test('what did not land is not told', () => {
  const told = new Told();
  told.do(submit(1000));
  told.story.stopped();
  told.story.booted(told.partition, { epoch: 2, first: 0, tail: 0 });
  expect(told.events).toEqual([]);
});

test('records that come back and nobody wrote are noticed', () => {
  const told = new Told();
  told.do(submit(1000));
  const { batch } = told;
  told.commit();
  told.story.stopped();
  expect(() => told.story.read({ ...batch, firstRecord: 1 })).toThrow(/^I28/);
  const hold = { epoch: 2, first: 0, tail: 5 };
  expect(() => new Told().story.booted(told.partition, hold)).toThrow(/^I29/);
});

test('memory that is what the log tells passes', () => {
  const told = new Told();
  told.do(ATTACH);
  told.do(submit(1000));
  told.do(submit(1001));
  told.commit();
  told.memory.booted(told.partition);
  told.memory.ended();
});

test('a task that is in the log and not in memory is noticed', () => {
  const told = new Told();
  told.do(submit(1000));
  told.commit();
  const empty = new Told().partition;
  empty.records = 1;
  expect(() => told.memory.booted(empty)).toThrow(/^I1: task 1 is queued, and not in memory/);
});

test('a task that is in memory and not in the log is noticed', () => {
  const told = new Told();
  told.do(submit(1000));
  told.commit();
  told.story.tasks.clear();
  expect(() => told.memory.booted(told.partition)).toThrow(/^I2: 1 tasks are in memory/);
});

test('memory that differs from the log is noticed', () => {
  for (const change of [{ input: '{}' }, { attempt: 1 }, { phase: 'waiting' }, { result: '1' }]) {
    const told = new Told();
    told.do(submit(1000));
    told.commit();
    const [task] = told.story.tasks.values();
    Object.assign(task, change);
    expect(() => told.memory.booted(told.partition)).toThrow(/^I3/);
  }
});

test('a task that a client was told of and the log does not know is noticed', () => {
  const told = new Told();
  const answer = { items: [{ id: 't_00000000000000000000' }] };
  told.entries.push({
    client: 'client1',
    asked: { kind: 'submit', tasks: [] },
    invokedAt: 0,
    answeredAt: 1,
    status: 201,
    answer,
  });
  expect(() => told.memory.ended()).toThrow(/^I1: client1 was told of/);
});
