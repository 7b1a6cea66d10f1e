import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Projector } from '../projector.ts';
import { DayFolder } from './day-file.ts';
import { DayFiles } from './day-files.ts';
import { record } from './record-fixture.ts';

/** Content of each folder when it was last synced, by path. */
const synced = vi.hoisted(() => new Map<string, string[]>());

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const paths = new Map<number, string>();
  return {
    ...fs,
    openSync: (path: string, flags: string) => {
      const handle = fs.openSync(path, flags);
      paths.set(handle, path);
      return handle;
    },
    fsyncSync: (handle: number) => {
      fs.fsyncSync(handle);
      const path = paths.get(handle) ?? '';
      synced.set(path, fs.readdirSync(path));
    },
  };
});

const RETENTION = { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'sluice-names-'));
  synced.clear();
});

afterEach(() => rmSync(data, { recursive: true }));

test('the names of all folders and files are synced before a projection is ready', () => {
  const folder = join(data, 'projection');
  const projector = Projector.open({ folder, retention: RETENTION, notify: () => undefined });

  expect(synced.get(data)).toContain('projection');
  expect(synced.get(folder)).toEqual(expect.arrayContaining(['days', 'mark.sqlite']));
  expect(synced.get(join(folder, 'days'))).toContain('0000-kept.sqlite');
  projector.close();
});

test('the name of a new day is synced before its first row counts', () => {
  const files = new DayFiles(new DayFolder(data), () => undefined);

  files.write([{ record: record(1, 1), position: 1 }]);

  expect(synced.get(data)).toContain('2030-01-01.sqlite');
  expect(readdirSync(data)).toContain('2030-01-01.sqlite');
  files.close();
});
