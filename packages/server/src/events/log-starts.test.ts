import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NoteFile } from '../base/note-file.ts';
import { LogStarts } from './log-starts.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-starts-'));
  path = join(folder, 'starts.json');
});

afterEach(() => rm(folder, { recursive: true }));

test('an id counts after a restart, up to where that began', async () => {
  const first = await LogStarts.begin(new NoteFile(path), 0);
  const second = await LogStarts.begin(new NoteFile(path), 10);

  expect(second.placeOf(`${first.current}-9`, 20)).toEqual({ after: 9 });
  expect(second.placeOf(`${first.current}-10`, 20)).toBe('lost');
  expect(second.placeOf(`${second.current}-19`, 20)).toEqual({ after: 19 });
});

test('an id beyond the tail is lost', async () => {
  const starts = await LogStarts.begin(new NoteFile(path), 0);

  expect(starts.placeOf(`${starts.current}-20`, 20)).toBe('lost');
});

test('an id of another log is lost, also when that has the same positions', async () => {
  const other = await LogStarts.begin(new NoteFile(join(folder, 'other.json')), 0);
  const starts = await LogStarts.begin(new NoteFile(path), 0);

  expect(starts.placeOf(`${other.current}-5`, 20)).toBe('lost');
  expect(starts.placeOf('5', 20)).toBe('lost');
});

test('what was given out after a copy was made is lost to the copy', async () => {
  const first = await LogStarts.begin(new NoteFile(path), 0);
  const copy = join(folder, 'copy.json');
  await copyFile(path, copy);
  const later = await LogStarts.begin(new NoteFile(path), 30);

  const restored = await LogStarts.begin(new NoteFile(copy), 10);

  expect(restored.placeOf(`${first.current}-9`, 50)).toEqual({ after: 9 });
  expect(restored.placeOf(`${first.current}-10`, 50)).toBe('lost');
  expect(restored.placeOf(`${later.current}-40`, 50)).toBe('lost');
});

test.each(['abc', '-1', '1.5', 'abcdefabcdef-', 'ABCDEFABCDEF-1', `${'1'.repeat(16)}`])(
  '%s is no id',
  async (id) => {
    const starts = await LogStarts.begin(new NoteFile(path), 0);

    expect(starts.placeOf(id, 20)).toBe('malformed');
  },
);

test.each(['', '{', '[1]', '{}', 'null'])('a damaged file (%s) makes ids lost', async (text) => {
  const before = await LogStarts.begin(new NoteFile(path), 0);
  await writeFile(path, text);

  const after = await LogStarts.begin(new NoteFile(path), 10);

  expect(after.placeOf(`${before.current}-5`, 20)).toBe('lost');
});
