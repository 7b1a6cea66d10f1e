import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TaskNumber, taskIdText } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TaskLogs } from './task-logs.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-logs-'));
});

afterEach(() => rm(folder, { recursive: true }));

function idOf(number: number, submittedAt = Date.UTC(2030, 0, 1)): string {
  return taskIdText({ submittedAt, partition: 0, number: number as TaskNumber });
}

const ID = idOf(1);

async function texts(logs: TaskLogs, id = ID): Promise<string[]> {
  return (await logs.read(id)).flatMap(({ attempt, lines }) => {
    return lines.map((line) => `${attempt} ${line}`);
  });
}

test('lines are kept in order, attempt by attempt, and only with their own task', async () => {
  const logs = new TaskLogs({ folder });
  await Promise.all([
    logs.append({ id: ID, attempt: 1, seq: 1, at: 1, lines: ['a', 'ä\n"'] }),
    logs.append({ id: ID, attempt: 1, seq: 2, at: 2, lines: ['c'] }),
    logs.append({ id: ID, attempt: 2, seq: 1, at: 3, lines: ['d'] }),
    logs.append({ id: idOf(33), attempt: 1, seq: 1, at: 3, lines: ['other'] }),
  ]);

  expect(await texts(logs)).toEqual(['1 a', '1 ä\n"', '1 c', '2 d']);
  expect(await texts(logs, idOf(2))).toEqual([]);
});

test('what is sent again is dropped, also after a restart and a torn last line', async () => {
  const first = new TaskLogs({ folder });
  await first.append({ id: ID, attempt: 1, seq: 1, at: 1, lines: ['a'] });
  await first.append({ id: ID, attempt: 1, seq: 1, at: 1, lines: ['a'] });
  const [day] = await readdir(folder);
  const [shard] = await readdir(join(folder, day));
  await appendFile(join(folder, day, shard, `${ID}.1.log`), '{"seq":2,"at"');

  const second = new TaskLogs({ folder });
  await second.append({ id: ID, attempt: 1, seq: 1, at: 1, lines: ['a'] });
  expect(await texts(second)).toEqual(['1 a']);
});

test('an attempt that writes without end keeps its last lines, within the bound', async () => {
  const logs = new TaskLogs({ folder, attemptBytesMax: 2000 });
  for (let seq = 1; seq <= 200; seq++) {
    await logs.append({ id: ID, attempt: 1, seq, at: seq, lines: [`line ${seq}`] });
  }

  const kept = await texts(logs);
  expect(kept.at(-1)).toBe('1 line 200');
  expect(kept.length).toBeGreaterThan(15);
  expect(kept.length).toBeLessThan(60);
});

test('who follows hears what is written from then on, once', async () => {
  const logs = new TaskLogs({ folder });
  await logs.append({ id: ID, attempt: 1, seq: 1, at: 1, lines: ['before'] });
  const heard: string[] = [];
  const stop = logs.follow(ID, ({ lines }) => heard.push(...lines));
  await logs.append({ id: ID, attempt: 1, seq: 2, at: 1, lines: ['now'] });
  await logs.append({ id: ID, attempt: 1, seq: 2, at: 1, lines: ['now'] });
  stop();
  await logs.append({ id: ID, attempt: 1, seq: 3, at: 1, lines: ['later'] });

  expect(heard).toEqual(['now']);
});

test('the oldest days go when all together are too much; the newest stays', async () => {
  const logs = new TaskLogs({ folder, totalBytesMax: 250 });
  for (const day of [1, 2, 3]) {
    const id = idOf(day, Date.UTC(2030, 0, day));
    await logs.append({ id, attempt: 1, seq: 1, at: 1, lines: ['x'.repeat(100)] });
  }

  await logs.sweep();

  expect((await readdir(folder)).sort()).toEqual(['2030-01-03'].sort());
});
