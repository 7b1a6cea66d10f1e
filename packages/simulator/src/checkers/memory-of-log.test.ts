import { expect, test } from 'vitest';
import { History } from '../clients/history.ts';
import { MemoryOfLog } from './memory-of-log.ts';
import { ToldPartition } from './testing/told-partition.ts';

/** A log with one task, and the checker that follows it. */
function begun() {
  const told = new ToldPartition();
  const history = new History();
  const checker = new MemoryOfLog(told.story, history.entries);
  told.listeners.push(checker);
  told.submit();
  told.commit();
  return { told, history, checker };
}

/** Boots a server that has the same log but different tasks in memory. */
function bootOther({ told, checker }: ReturnType<typeof begun>, ...inputs: string[]): void {
  const other = new ToldPartition();
  for (const input of inputs) other.submit(input);
  other.partition.records = told.story.tail;
  checker.booted(other.partition);
}

test('a memory that has what its log tells passes', () => {
  const { told, checker } = begun();
  told.attach();
  told.submit('{"n":2}');
  told.commit();

  checker.booted(told.partition);

  expect(() => checker.ended()).not.toThrow();
});

test('what is not durable yet is compared with nothing', () => {
  const { told, checker } = begun();
  told.submit();

  expect(() => checker.booted(told.partition)).not.toThrow();
});

test('a task of the log that memory does not have is noticed (I1)', () => {
  expect(() => bootOther(begun())).toThrow(/^I1.*task 1 is queued, and not in memory/);
});

test('a task of memory that the log does not have is noticed (I2)', () => {
  expect(() => bootOther(begun(), '{"n":1}', '{"n":1}')).toThrow(/^I2.*2 tasks are in memory/);
});

test('a task that is another one in memory is noticed (I3)', () => {
  expect(() => bootOther(begun(), '{"n":2}')).toThrow(/^I3.*input '{"n":2}' in memory/);
});

test('a difference that comes about while the server runs is noticed after some commands', () => {
  const { told, checker } = begun();
  checker.booted(told.partition);
  (told.partition.state.tasks.priority as Uint8Array)[0] = 7;
  const goOn = () => told.do({ type: 'expire_sessions', now: 1000 });

  for (let i = 1; i < 500; i++) goOn();

  expect(goOn).toThrow(/^I3.*priority '7' in memory and '4' in the log/);
});

test('a task that a client was told of and the log does not know is noticed (I1)', () => {
  const { told, history, checker } = begun();
  const id = [...told.story.tasks.values()][0].id;
  const answer = (items: readonly { readonly id: string }[], status: number) => {
    const entry = history.begin('client', { kind: 'submit', tasks: [] }, 0);
    Object.assign(entry, { status, answer: { items } });
  };
  answer([{ id }], 201);
  answer([{ id: 't_unknown' }], 503);
  checker.ended();

  answer([{ id: 't_unknown' }], 201);

  expect(() => checker.ended()).toThrow(/^I1.*client was told of t_unknown/);
});
