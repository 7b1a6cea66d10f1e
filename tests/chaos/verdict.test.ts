import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../support/worker-client.ts';
import { type Entry, Journal, type JournalTask, readJournal } from './journal.ts';
import { outputOf } from './ledger-task.ts';
import { judge } from './verdict.ts';

function task(id: string, overrides: Partial<JournalTask> = {}): JournalTask {
  return { id, lease: `lease of ${id}`, attempt: 1, batch: 1, index: 0, size: 1, ...overrides };
}

function submitted(batch: number, ids: readonly string[]): Entry[] {
  return [
    { kind: 'submit', batch, size: ids.length },
    { kind: 'acked', batch, ids },
  ];
}

function pushed(...tasks: readonly JournalTask[]): Entry {
  return { kind: 'pushed', worker: 0, tasks };
}

function reporting(lease: string): Entry {
  return { kind: 'reporting', worker: 0, leases: [lease] };
}

function answered(lease: string, outcome: Outcome): Entry {
  return { kind: 'answered', worker: 0, leases: [lease], outcomes: [outcome] };
}

function welcomed(...lost: readonly string[]): Entry {
  return { kind: 'welcomed', worker: 0, lost };
}

/** The handler runs, reports and hears `ok`. */
function finished({ id, lease }: JournalTask): Entry[] {
  return [{ kind: 'executed', task: id, lease }, reporting(lease), answered(lease, 'ok')];
}

function ended({ id, batch, index }: JournalTask, overrides: Partial<Entry> = {}): Entry {
  const output = outputOf({ batch, index });
  const end = { kind: 'ended', task: id, state: 'succeeded', attempt: 1, output } as const;
  return { ...end, ...overrides } as Entry;
}

function rulesBroken(...history: readonly (Entry | readonly Entry[])[]): string[] {
  return judge(history.flat()).violations.map(({ rule }) => rule);
}

const A = task('a');

test('a history without a fault has no violation', () => {
  const history = [submitted(1, ['a']), pushed(A), finished(A), ended(A)];

  expect(rulesBroken(...history)).toEqual([]);
});

test('a kill between a report and its answer is no violation', () => {
  const executed: Entry = { kind: 'executed', task: 'a', lease: A.lease };
  const before = [submitted(1, ['a']), pushed(A), executed, reporting(A.lease)];
  const after = [welcomed(A.lease), reporting(A.lease), answered(A.lease, 'duplicate'), ended(A)];

  const { violations, counts } = judge([...before, ...after].flat());

  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ acked: 1, pushed: 1, sentAgain: 1, duplicates: 1 });
});

test('a submit without an answer may be stored or not', () => {
  const submit: Entry = { kind: 'submit', batch: 1, size: 1 };
  const unanswered: Entry = { kind: 'unanswered', batch: 1 };

  expect(rulesBroken(submit, unanswered)).toEqual([]);
  expect(rulesBroken(submit, unanswered, pushed(A), finished(A))).toEqual([]);
});

test('an acknowledged task that nobody knows any more is lost', () => {
  const missing = ended(A, { state: 'missing (404)', attempt: 0, output: null });

  expect(rulesBroken(submitted(1, ['a']), missing)).toEqual(['lost', 'lost']);
});

test('an acknowledged task that never ended or was never looked up is lost', () => {
  const before = [submitted(1, ['a']), pushed(A)];

  expect(rulesBroken(...before, ended(A, { state: 'leased' }))).toEqual(['lost', 'lost']);
  expect(rulesBroken(...before, finished(A))).toEqual(['lost']);
});

test("an acknowledged task with another task's output is lost", () => {
  const output = outputOf({ batch: 2, index: 0 });
  const history = [submitted(1, ['a']), pushed(A), finished(A), ended(A, { output })];

  expect(rulesBroken(...history)).toEqual(['lost']);
});

test('a task that is run and finished under two leases is finished twice', () => {
  const again = task('a', { lease: 'second lease' });
  const once = [submitted(1, ['a']), pushed(A), finished(A)];

  const broken = rulesBroken(...once, pushed(again), finished(again), ended(A));

  expect(broken).toEqual(['finished_twice', 'finished_twice']);
});

test('a submit that is stored twice is finished twice', () => {
  const twin = task('b');
  const once = [submitted(1, ['a']), pushed(A), finished(A), ended(A)];

  expect(rulesBroken(...once, pushed(twin), finished(twin))).toContain('finished_twice');
});

test('a push while the lease is held is a violation, whoever gets it', () => {
  const again = task('a', { lease: 'second lease' });
  const push: Entry = { kind: 'pushed', worker: 1, tasks: [again] };
  const history = [submitted(1, ['a']), pushed(A), welcomed(), push, finished(again), ended(A)];

  expect(rulesBroken(...history)).toEqual(['pushed_while_held']);
});

test('a batch of which one task is missing is half a batch', () => {
  const first = task('a', { size: 2 });
  const submit: Entry = { kind: 'submit', batch: 1, size: 2 };

  const broken = rulesBroken(
    submit,
    { kind: 'unanswered', batch: 1 },
    pushed(first),
    finished(first),
  );

  expect(broken).toEqual(['half_batch']);
});

test('a second attempt is a violation, when pushed and at the end', () => {
  const second = task('a', { attempt: 2 });
  const history = [submitted(1, ['a']), pushed(second), finished(second)];

  const broken = rulesBroken(...history, ended(second, { attempt: 2 }));

  expect(broken).toEqual(['attempt_spent', 'attempt_spent']);
});

test('a lease that is lost though its end was never reported is a violation', () => {
  const history = [submitted(1, ['a']), pushed(A), welcomed(A.lease), finished(A), ended(A)];

  expect(rulesBroken(...history)).toEqual(['lease_lost']);
});

test('a final report that is stale, or a duplicate of nothing, is a violation', () => {
  const before = [submitted(1, ['a']), pushed(A), reporting(A.lease)];

  for (const outcome of ['stale_lease', 'duplicate'] as const) {
    const broken = rulesBroken(...before, answered(A.lease, outcome), ended(A));
    expect(broken).toEqual(['wrong_outcome']);
  }
});

test('an id that differs from the acknowledged one is a wrong answer', () => {
  const other = task('b');
  const history = [submitted(1, ['a']), pushed(other), finished(other), ended(A)];

  expect(rulesBroken(...history)).toEqual(['wrong_answer']);
});

test('an unexpected answer or a crash is a violation', () => {
  const history: Entry[] = [{ kind: 'unexpected', problem: 'the server ended by itself' }];

  expect(rulesBroken(history)).toEqual(['wrong_answer']);
});

test('a journal reads back as it was written, across the chunks it is read in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-journal-'));
  const path = join(folder, 'journal.jsonl');
  const entries = Array.from({ length: 2000 }, (_, batch): Entry => {
    return { kind: 'unexpected', problem: `${batch} ${'ö'.repeat(1000)}` };
  });

  try {
    const journal = new Journal(path);
    for (const entry of entries) journal.write(entry);
    journal.close();

    expect([...readJournal(path)]).toEqual(entries);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
