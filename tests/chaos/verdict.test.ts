import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Outcome } from '../support/worker-client.ts';
import { type Entry, Journal, type JournalTask, readJournal } from './journal.ts';
import { outputOf, planOf } from './ledger-task.ts';
import { judge } from './verdict.ts';

function task(id: string, overrides: Partial<JournalTask> = {}): JournalTask {
  const place = { batch: 1, index: 0, size: 1, isKeyed: false };
  return { id, lease: `lease of ${id}`, attempt: 1, ...place, ...overrides };
}

function submit(batch: number, size: number, isKeyed = false): Entry {
  return { kind: 'submit', batch, size, isKeyed, at: 1000 };
}

function acked(batch: number, ...ids: readonly string[]): Entry {
  return { kind: 'acked', batch, ids };
}

function submitted(batch: number, ids: readonly string[], isKeyed = false): Entry[] {
  return [submit(batch, ids.length, isKeyed), acked(batch, ...ids)];
}

function pushed(...tasks: readonly JournalTask[]): Entry {
  return { kind: 'pushed', worker: 0, tasks, at: 5000 };
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

/** The handler runs, reports and receives `ok`. */
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
const KEYED_BATCH = 13;

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
  const unanswered: Entry = { kind: 'unanswered', batch: 1 };

  expect(rulesBroken(submit(1, 1), unanswered)).toEqual([]);
  expect(rulesBroken(submit(1, 1), unanswered, pushed(A), finished(A))).toEqual([]);
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
  const push: Entry = { kind: 'pushed', worker: 1, tasks: [again], at: 5000 };
  const history = [submitted(1, ['a']), pushed(A), welcomed(), push, finished(again), ended(A)];

  expect(rulesBroken(...history)).toEqual(['pushed_while_held']);
});

test('a batch of which one task is missing is half a batch', () => {
  const first = task('a', { size: 2 });

  const broken = rulesBroken(
    submit(1, 2),
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

/** By plan this task is delayed by 150 ms and fails twice. */
const KEYED = task('k', { batch: KEYED_BATCH, isKeyed: true });
const SECOND = { ...KEYED, lease: 'second lease', attempt: 2 };
const THIRD = { ...KEYED, lease: 'third lease', attempt: 3 };
const KEYED_END = ended(KEYED, { attempt: 3 });

function failed({ id, lease }: JournalTask): Entry[] {
  return finished(task(id, { lease }));
}

test('attempts that fail by plan are no violation', () => {
  const attempts = [KEYED, SECOND, THIRD].map((each) => [pushed(each), ...failed(each)]);

  const { violations, counts } = judge(
    [...submitted(KEYED_BATCH, ['k'], true), ...attempts.flat(), KEYED_END].flat(),
  );

  expect(planOf(KEYED)).toEqual({ delayMs: 150, failures: 2 });
  expect(violations).toEqual([]);
  expect(counts).toMatchObject({ failures: 2, delayed: 1 });
});

test('a failure that was reported without an answer may be known by then', () => {
  const broken = [pushed(KEYED), reporting(KEYED.lease), pushed(SECOND), failed(SECOND)];
  const late = [reporting(KEYED.lease), answered(KEYED.lease, 'stale_lease')];
  const rest = [pushed(THIRD), failed(THIRD), KEYED_END];

  const rules = rulesBroken(...submitted(KEYED_BATCH, ['k'], true), ...broken, ...late, ...rest);

  expect(rules).toEqual([]);
});

test('an attempt that nobody failed is spent', () => {
  const history = [...submitted(KEYED_BATCH, ['k'], true), pushed(SECOND), failed(SECOND)];

  const rules = rulesBroken(...history, pushed(THIRD), failed(THIRD), KEYED_END);

  expect(rules).toEqual(['attempt_spent', 'attempt_spent']);
});

test('a push before the time of a task is a violation', () => {
  const push: Entry = { kind: 'pushed', worker: 0, tasks: [KEYED], at: 1130 };
  const rest = [failed(KEYED), pushed(SECOND), failed(SECOND), pushed(THIRD), failed(THIRD)];

  const rules = rulesBroken(...submitted(KEYED_BATCH, ['k'], true), push, ...rest, KEYED_END);

  expect(rules).toEqual(['early']);
});

test('a submit with keys that is sent again has the same tasks', () => {
  const attempts = [KEYED, SECOND, THIRD].flatMap((each) => [pushed(each), ...failed(each)]);
  const again = submit(KEYED_BATCH, 1, true);
  const history = [...submitted(KEYED_BATCH, ['k'], true), again];

  const same = rulesBroken(...history, acked(KEYED_BATCH, 'k'), ...attempts, KEYED_END);
  const other = rulesBroken(...history, acked(KEYED_BATCH, 'l'), ...attempts, KEYED_END);

  expect(same).toEqual([]);
  expect(other).toEqual(['wrong_answer']);
});

test('a submit with keys that is never acknowledged is a violation', () => {
  expect(rulesBroken(submit(KEYED_BATCH, 1, true))).toEqual(['wrong_answer']);
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
