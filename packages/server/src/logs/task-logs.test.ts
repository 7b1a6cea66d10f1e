import { appendFile, chmod, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TaskNumber, taskIdText } from '@sluice/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AttemptLines } from './log-file.ts';
import { TaskLogs } from './task-logs.ts';

const WAIT = { timeout: 20_000 };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-logs-'));
});

afterEach(() => rm(folder, { recursive: true }));

function idOf(number: number, submittedAt = Date.UTC(2030, 0, 1)): string {
  return taskIdText({ submittedAt, partition: 0, number: number as TaskNumber });
}

const ID = idOf(1);

async function read(logs: TaskLogs, id: string, attempt?: number): Promise<AttemptLines[]> {
  const found: AttemptLines[] = [];
  for await (const lines of logs.readByLease(id, attempt)) found.push(...lines);
  return found;
}

async function texts(logs: TaskLogs, id = ID): Promise<string[]> {
  return (await read(logs, id)).flatMap(({ attempt, lines }) => {
    return lines.map((line) => `${attempt} ${line}`);
  });
}

const LONG_LINE = 'x'.repeat(100);

/** Sets the last write to a task's file. */
async function setChanged(number: number, seconds: number): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const name = names.find((each) => each.endsWith(`${idOf(number)}.1.${number}.log`)) as string;
  await utimes(join(folder, name), seconds, seconds);
}

test('lines are kept in order, attempt by attempt, and only with their own task', async () => {
  const logs = new TaskLogs({ folder });
  await Promise.all([
    logs.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['a', 'ä\n"'] }),
    logs.append({ id: ID, attempt: 1, lease: 1, seq: 2, at: 2, lines: ['c'] }),
    logs.append({ id: ID, attempt: 2, lease: 2, seq: 1, at: 3, lines: ['d'] }),
    logs.append({ id: idOf(33), attempt: 1, lease: 1, seq: 1, at: 3, lines: ['other'] }),
  ]);

  expect(await texts(logs)).toEqual(['1 a', '1 ä\n"', '1 c', '2 d']);
  expect(await texts(logs, idOf(2))).toEqual([]);
});

test('a reader finds lines whose file is not there yet', async () => {
  const logs = new TaskLogs({ folder });

  const written = logs.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['a'] });

  expect(await texts(logs)).toEqual(['1 a']);
  await written;
});

test('what is sent again is dropped, also after a restart and a torn last line', async () => {
  const first = new TaskLogs({ folder });
  await first.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['a'] });
  await first.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['a'] });
  const [day] = await readdir(folder);
  const [shard] = await readdir(join(folder, day));
  await appendFile(join(folder, day, shard, `${ID}.1.1.log`), '{"seq":2,"at"');

  const second = new TaskLogs({ folder });
  await second.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['a'] });
  await second.append({ id: ID, attempt: 1, lease: 1, seq: 2, at: 1, lines: ['b'] });
  expect(await texts(second)).toEqual(['1 a', '1 b']);
});

test('the lines of a retry follow those of the first run (task-logs.file-per-lease)', async () => {
  const first = new TaskLogs({ folder });
  await first.append({ id: ID, attempt: 1, lease: 9, seq: 1, at: 1, lines: ['first run'] });
  await first.append({ id: ID, attempt: 2, lease: 10, seq: 1, at: 1, lines: ['second try'] });
  await first.append({ id: ID, attempt: 1, lease: 11, seq: 1, at: 1, lines: ['second run'] });

  const second = new TaskLogs({ folder });
  await second.append({ id: ID, attempt: 1, lease: 11, seq: 1, at: 1, lines: ['second run'] });
  await second.append({ id: ID, attempt: 1, lease: 11, seq: 2, at: 1, lines: ['its end'] });

  const all = ['1 first run', '2 second try', '1 second run', '1 its end'];
  expect(await texts(second)).toEqual(all);
  expect(await read(second, ID, 1)).toHaveLength(3);
});

test('an attempt that writes without end keeps its last lines, within the bound', async () => {
  const logs = new TaskLogs({ folder, attemptBytesMax: 2000 });
  for (let seq = 1; seq <= 200; seq++) {
    await logs.append({ id: ID, attempt: 1, lease: 1, seq, at: seq, lines: [`line ${seq}`] });
  }

  const kept = await texts(logs);
  expect(kept.at(-1)).toBe('1 line 200');
  expect(kept.length).toBeGreaterThan(15);
  expect(kept.length).toBeLessThan(60);
});

test('who follows hears what is written from then on, once', async () => {
  const logs = new TaskLogs({ folder });
  await logs.append({ id: ID, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['before'] });
  const heard: string[] = [];
  const stop = logs.follow(ID, ({ lines }) => heard.push(...lines));
  await logs.append({ id: ID, attempt: 1, lease: 1, seq: 2, at: 1, lines: ['now'] });
  await logs.append({ id: ID, attempt: 1, lease: 1, seq: 2, at: 1, lines: ['now'] });
  stop();
  await logs.append({ id: ID, attempt: 1, lease: 1, seq: 3, at: 1, lines: ['later'] });

  expect(heard).toEqual(['now']);
});

test('the oldest days go first when all together are too much', async () => {
  const logs = new TaskLogs({ folder, totalBytesMax: 250 });
  for (const day of [1, 2, 3]) {
    const id = idOf(day, Date.UTC(2030, 0, day));
    await logs.append({ id, attempt: 1, lease: 1, seq: 1, at: 1, lines: ['x'.repeat(100)] });
  }

  await logs.sweep();

  expect((await readdir(folder)).sort()).toEqual(['2030-01-03'].sort());
});

test('a day that nobody wrote to for too long goes as a whole, and no other', async () => {
  const logs = new TaskLogs({ folder });
  const days = [1, 2].map((day) => Date.UTC(2030, 0, day));
  for (const submittedAt of days) {
    for (const number of [1, 2]) {
      const id = idOf(number, submittedAt);
      await logs.append({ id, attempt: 1, lease: number, seq: 1, at: 1, lines: ['x'] });
    }
  }
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith('.log')).sort();
  const longAgo = (Date.now() - 3_600_000) / 1000;
  for (const name of files.slice(0, 3)) await utimes(join(folder, name), longAgo, longAgo);

  await new TaskLogs({ folder, ageMs: 1_800_000 }).sweep();

  expect(await readdir(folder)).toEqual(['2030-01-02']);
  const left = await readdir(folder, { recursive: true });
  expect(left.filter((name) => name.endsWith('.log'))).toHaveLength(2);
});

test('of the newest day those go that nobody wrote to for longest', async () => {
  const logs = new TaskLogs({ folder });
  for (const number of [1, 2, 3, 4]) {
    const id = idOf(number);
    await logs.append({ id, attempt: 1, lease: number, seq: 1, at: 1, lines: [LONG_LINE] });
  }
  await setChanged(1, 40);
  await setChanged(2, 10);
  await setChanged(3, 20);
  await setChanged(4, 30);

  await new TaskLogs({ folder, totalBytesMax: 300 }).sweep();

  const kept = await Promise.all([1, 2, 3, 4].map((number) => read(logs, idOf(number))));
  expect(kept.map(({ length }) => length)).toEqual([1, 0, 0, 1]);
});

test('the bound is kept while lines are written, and what was removed can go on', async () => {
  const logs = new TaskLogs({ folder, totalBytesMax: 3000 });
  for (let number = 1; number <= 200; number++) {
    const id = idOf(number);
    await logs.append({ id, attempt: 1, lease: number, seq: 1, at: 1, lines: [LONG_LINE] });
  }

  await vi.waitFor(async () => {
    const names = await readdir(folder, { recursive: true });
    expect(names.filter((name) => name.endsWith('.log')).length).toBeLessThan(30);
  }, WAIT);
  await logs.append({ id: ID, attempt: 1, lease: 1, seq: 2, at: 1, lines: ['more'] });
  expect(await texts(logs)).toEqual(['1 more']);
});

test('lines are for their owner alone, also below a folder that was open to others', async () => {
  await chmod(folder, 0o777);
  const logs = await TaskLogs.open({ folder, attemptBytesMax: 300 });
  for (let seq = 1; seq < 5; seq++) {
    await logs.append({ id: ID, attempt: 1, lease: 1, seq, at: 1, lines: [LONG_LINE] });
  }
  logs.close();

  const names = await readdir(folder, { recursive: true });
  const modes = await Promise.all(
    ['.', ...names].map(async (name) =>
      ((await stat(join(folder, name))).mode & 0o777).toString(8),
    ),
  );
  // The folder, one for the day and one below it, and the two files of the ring.
  expect(modes).toEqual(['700', '700', '700', '600', '600']);
});
