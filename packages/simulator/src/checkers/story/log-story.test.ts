import type { Event } from '@sluice/core';
import { expect, test } from 'vitest';
import { UTF8 } from '../../base/utf8.ts';
import type { HistoryEntry } from '../../clients/history.ts';
import { MemoryOfLog } from '../memory-of-log.ts';
import { ToldPartition } from '../testing/told-partition.ts';

/** A real partition, and a checker that compares its memory with its log. */
class Told extends ToldPartition {
  readonly entries: HistoryEntry[] = [];
  readonly memory = new MemoryOfLog(this.story, this.entries);
  readonly events: Event['type'][] = [];

  constructor() {
    super();
    this.listeners.push(this.memory);
    this.story.rules.push({ event: ({ type }) => void this.events.push(type) });
  }
}

test('commands are told in order with their events, once they are durable', () => {
  const told = new Told();
  const types: string[] = [];
  told.story.rules.push({ begins: ({ command }) => void types.push(command.type) });
  told.submit();
  told.attach();
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
  told.attach();
  expect(types).toEqual(['attach_session']);
  told.submit();
  told.do({ type: 'expire_sessions', now: 1001 });
  expect(types).toEqual(['attach_session']);
  told.commit();
  expect(types).toEqual(['attach_session', 'submit_tasks', 'expire_sessions']);
});

test('what a command pointed at may be used again', () => {
  const told = new Told();
  const texts: string[] = [];
  told.story.rules.push({
    begins: ({ command }) => {
      if (command.type === 'submit_tasks') texts.push(UTF8.decode(command.inputs));
    },
  });
  const inputs = Buffer.from('{"n":1}');
  const tasks = [{ type: 'a' }];
  const fields = { namespace: 'default', tasks, inputs, inputEnds: [inputs.length] };
  told.do({ type: 'submit_tasks', now: 1000, ...fields });
  inputs.fill(0);
  told.commit();
  expect(texts).toEqual(['{"n":1}']);
});

test('what landed without anybody hearing so is told at the next start', () => {
  const told = new Told();
  told.submit();
  told.submit();
  const { batch } = told;
  told.story.stopped();
  told.story.read({ ...batch, firstRecord: 0 });
  told.story.booted(told.partition, { epoch: 2, first: 0, tail: 2 });
  expect(told.events).toEqual(['task_submitted', 'task_submitted']);
});

test('what did not land is not told', () => {
  const told = new Told();
  told.submit();
  told.story.stopped();
  told.story.booted(told.partition, { epoch: 2, first: 0, tail: 0 });
  expect(told.events).toEqual([]);
});

test('records that come back and nobody wrote are noticed', () => {
  const told = new Told();
  told.submit();
  const { batch } = told;
  told.commit();
  told.story.stopped();
  expect(() => told.story.read({ ...batch, firstRecord: 1 })).toThrow(/^I28/);
  const hold = { epoch: 2, first: 0, tail: 5 };
  expect(() => new Told().story.booted(told.partition, hold)).toThrow(/^I29/);
});

test('memory that is what the log tells passes', () => {
  const told = new Told();
  told.attach();
  told.submit();
  told.submit();
  told.commit();
  told.memory.booted(told.partition);

  expect(() => told.memory.ended()).not.toThrow();
});

test('a task that is in the log and not in memory is noticed', () => {
  const told = new Told();
  told.submit();
  told.commit();
  const empty = new Told().partition;
  empty.records = 1;
  expect(() => told.memory.booted(empty)).toThrow(/^I1: task 1 is queued, and not in memory/);
});

test('a task that is in memory and not in the log is noticed', () => {
  const told = new Told();
  told.submit();
  told.commit();
  told.story.tasks.clear();
  expect(() => told.memory.booted(told.partition)).toThrow(/^I2: 1 tasks are in memory/);
});

test('memory that differs from the log is noticed', () => {
  for (const change of [{ input: '{}' }, { attempt: 1 }, { phase: 'waiting' }, { result: '1' }]) {
    const told = new Told();
    told.submit();
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
    isRepeated: false,
    answer,
  });
  expect(() => told.memory.ended()).toThrow(/^I1: client1 was told of/);
});
