import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSchedule, readSchedules } from './schedule-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-schedules-'));
});

afterEach(() => rm(folder, { recursive: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** What was found, with paths relative to the folder. */
async function found(...names: string[]): Promise<object[]> {
  const paths = names.length === 0 ? [folder] : names.map((name) => join(folder, name));
  const all = await readSchedules(paths);
  return JSON.parse(JSON.stringify(all).replaceAll(`${folder}/`, ''));
}

test('a file holds one schedule, a list, several documents, or {schedules}', async () => {
  await write({
    'one.json': '{"id": "a", "spec": {"cron": "@daily"}}',
    'list.yaml': '- id: b\n  task: { type: x }\n- id: c\n',
    'documents.yml': 'id: d\n---\nid: e\n',
    'nested/all.json': '{"schedules": [{"id": "f"}]}',
    'node_modules/x.json': '{}',
    'readme.md': 'none',
  });

  expect(await found()).toEqual([
    { file: 'documents.yml', id: 'd', schedule: {} },
    { file: 'documents.yml', id: 'e', schedule: {} },
    { file: 'list.yaml', id: 'b', schedule: { task: { type: 'x' } } },
    { file: 'list.yaml', id: 'c', schedule: {} },
    { file: 'nested/all.json', id: 'f', schedule: {} },
    { file: 'one.json', id: 'a', schedule: { spec: { cron: '@daily' } } },
  ]);
});

test.each([
  ['a.json', '{"id": 5}', 'entry 1 has the id 5, no text'],
  ['a.json', '[{"id": "a"}, {}]', 'entry 2 has no id'],
  ['a.json', '[7]', 'entry 1 is no schedule'],
  ['a.json', '{"schedules": []}', 'it has no schedule'],
  ['a.json', '{"id": "a", "id": "b"}', '/id occurs twice'],
  ['a.json', '{"id": "a", "n": 12345678901234567890}', 'write 12345678901234567890 as a text'],
  ['a.json', '{', 'JSON'],
  ['a.yaml', '', 'it has no schedule'],
  ['a.yaml', 'a: [', 'Flow sequence in block collection'],
  ['a.yaml', 'id: a\nid: b', 'Map keys must be unique'],
  ['a.txt', '', 'it is no file of .json, .yaml, .yml'],
])('%s with %s is a problem', async (name, text, problem) => {
  await write({ [name]: text });

  const problems = (await found(name)).filter((each) => 'problem' in each);

  expect(problems).toEqual([
    expect.objectContaining({ file: name, problem: expect.stringContaining(problem) }),
  ]);
});

test('an id that is used twice is a problem of the second', async () => {
  await write({ 'a.json': '[{"id": "x"}, {"id": "x"}]', 'b.json': '{"id": "x"}' });

  expect(await found()).toEqual([
    { file: 'a.json', id: 'x', schedule: {} },
    { file: 'a.json', id: 'x', problem: 'the id is used twice, in this file' },
    { file: 'b.json', id: 'x', problem: 'the id is used twice, first in a.json' },
  ]);
});

test('paths without a schedule are wrong usage', async () => {
  await expect(readSchedules([folder])).rejects.toThrow('no files of .json, .yaml, .yml in');
  await expect(readSchedules([join(folder, 'x')])).rejects.toThrow('there is no file or folder');
});

test('a file for one schedule need not repeat its id', async () => {
  await write({
    'a.yaml': 'spec: { everyMs: 5000 }',
    'b.json': '{"id": "b"}',
    'c.json': '[{}, {}]',
  });
  const read = (name: string, id: string) => readSchedule(join(folder, name), id);

  expect(await read('a.yaml', 'a')).toEqual({ spec: { everyMs: 5000 } });
  expect(await read('b.json', 'b')).toEqual({});
  expect(await read('b.json', 'a')).toMatchObject({ problem: `its id is "b", not 'a'` });
  expect(await read('c.json', 'a')).toMatchObject({ problem: expect.stringContaining('one') });
  expect(await read('d.json', 'a')).toMatchObject({ problem: expect.stringContaining('ENOENT') });
});
