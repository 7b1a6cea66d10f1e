import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DEFAULT_NAMESPACE, type TaskNumber, taskIdText } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProjectorNotice } from '../projector-parts.ts';
import type { TaskRecord } from '../records/task-record.ts';
import { DayFolder } from './day-file.ts';
import { DayFiles } from './day-files.ts';
import { MarkFile } from './mark-file.ts';
import { record } from './record-fixture.ts';

const DAY = '2030-01-01.sqlite';

let folder: string;
let files: DayFiles;
let notices: ProjectorNotice[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-damaged-'));
  open();
});

afterEach(() => {
  files.close();
  rmSync(folder, { recursive: true });
});

function open(): void {
  notices = [];
  files = new DayFiles(new DayFolder(folder), (notice) => notices.push(notice));
}

function write(...records: TaskRecord[]): void {
  files.write(records.map((each) => ({ record: each, position: 1 })));
}

function found(): number[] {
  const query = { namespace: DEFAULT_NAMESPACE, before: 1e9, from: 0, limit: 10 };
  const times = { since: 0, until: Number.POSITIVE_INFINITY };
  const results = [...files.find(query, times, () => false)];
  return results.flatMap((result) => ('passed' in result ? [] : result.number));
}

/** Changes a file without the server's knowledge. */
function damage(statement: string): void {
  const db = new DatabaseSync(join(folder, DAY));
  db.exec(statement);
  db.close();
}

function idOf({ number, submittedAt }: TaskRecord): string {
  return taskIdText({ submittedAt, partition: 0, number: number as TaskNumber });
}

test.each([
  ['one byte of its body', `UPDATE tasks SET body = replace(body, '5', '6') WHERE number = 2`],
  ['the end of its body', 'UPDATE tasks SET body = substr(body, 1, 20) WHERE number = 2'],
  ['its input', `UPDATE tasks SET input = '[]' WHERE number = 2`],
  ['its checksum', 'UPDATE tasks SET checksum = 0 WHERE number = 2'],
  ['its queue', 'UPDATE tasks SET queue = 77 WHERE number = 2'],
  ['a number', 'UPDATE tasks SET position = 9007199254740993 WHERE number = 2'],
])(
  'a row is set aside and named when another wrote %s, and others are read',
  (_what, statement) => {
    write(record(1, 1), record(2, 1), record(3, 1));
    damage(statement);

    expect([...files.readAhead(1, 3).keys()]).toEqual([1, 3]);
    expect(files.read(2)).toBeUndefined();
    expect(found()).toEqual([3, 1]);
    expect(notices).toMatchObject([{ type: 'row_set_aside', day: '2030-01-01' }]);

    write(record(2, 1));
    expect(found()).toEqual([3, 2, 1]);
    files.close();
    const db = new DatabaseSync(join(folder, DAY));
    expect(db.prepare('SELECT number FROM unreadable').all()).toEqual([{ number: 2 }]);
    db.close();
    open();
  },
);

test('an unreadable row that cannot be moved away is named once and passed over', () => {
  write(record(1, 1), record(2, 1));
  damage(`UPDATE tasks SET body = 'x' WHERE number = 1`);
  const other = new DatabaseSync(join(folder, DAY));
  other.exec('BEGIN IMMEDIATE');

  expect(found()).toEqual([2]);
  expect(found()).toEqual([2]);

  other.close();
  const task = idOf(record(1, 1));
  expect(notices).toMatchObject([{ type: 'row_set_aside', task }]);
});

test('a record that no row can hold is left out, and all others are written', () => {
  const bad = { ...record(2, 1), tags: '{' };
  const worse = { ...record(3, 1), endedAt: Number.NaN };

  write(record(1, 1), bad, worse, record(4, 1));

  expect(found()).toEqual([4, 1]);
  const left = { type: 'record_left_out', day: '2030-01-01' };
  expect(notices).toMatchObject([
    { ...left, task: idOf(bad) },
    { ...left, task: idOf(worse) },
  ]);
});

test.each([
  ['is no database', () => writeFileSync(join(folder, DAY), 'x'.repeat(20_000))],
  ['is a folder', () => mkdirSync(join(folder, DAY))],
  ['has lost a column', () => damage('ALTER TABLE tasks DROP COLUMN body')],
])('a day file that %s is set aside and named', (what, make) => {
  write(record(1, 1));
  files.close();
  if (what !== 'has lost a column')
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  make();

  open();
  write(record(2, 1));

  expect(readdirSync(folder)).toContain(`${DAY}.corrupt`);
  expect(found()).toEqual([2]);
  const file = join(folder, `${DAY}.corrupt`);
  expect(notices).toMatchObject([{ type: 'day_set_aside', file }]);
});

test.each([
  ['has another schema', 0, 'CREATE TABLE tasks (a, b)'],
  ['is of another version', 7, 'CREATE TABLE x (a); PRAGMA user_version = 7'],
])('a day file that %s is set aside, and not called damaged', (_what, schema, make) => {
  files.close();
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  damage(make);

  open();
  write(record(2, 1));

  expect(found()).toEqual([2]);
  const file = join(folder, `${DAY}.schema-${schema}`);
  expect(notices).toMatchObject([{ type: 'day_of_other_version', file }]);
});

test('a file that is whole and cannot be opened is named, and stays', () => {
  write(record(1, 1));
  files.close();
  mkdirSync(join(folder, `${DAY}-wal`));

  expect(open).toThrow(`cannot open '${join(folder, DAY)}'`);

  rmSync(join(folder, `${DAY}-wal`), { recursive: true });
  open();
  expect(found()).toEqual([1]);
});

test.each([
  ['is no database', (path: string) => writeFileSync(path, 'x'.repeat(20_000))],
  ['is a folder', (path: string) => mkdirSync(path)],
  [
    'has another schema',
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec('CREATE TABLE mark (id, place)');
      db.close();
    },
  ],
])('a mark that %s is set aside and named, and begins again', (what, make) => {
  const path = join(folder, 'mark.sqlite');
  make(path);

  const mark = new MarkFile(folder, (notice) => notices.push(notice));
  expect(mark.read()).toEqual({ position: 0, at: 0, rebuildTo: 0 });
  mark.write({ position: 5, at: 7, rebuildTo: 0 });
  mark.close();

  const other = { type: 'mark_of_other_version', file: `${path}.schema-0` };
  const damaged = { type: 'mark_set_aside', file: `${path}.corrupt` };
  expect(notices).toMatchObject([what === 'has another schema' ? other : damaged]);
  const again = new MarkFile(folder);
  expect(again.read()).toEqual({ position: 5, at: 7, rebuildTo: 0 });
  again.close();
});

test('files are for their owner alone', () => {
  write(record(1, 1));

  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});
