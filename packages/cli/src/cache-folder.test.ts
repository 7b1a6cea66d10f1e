import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheFolder } from './cache-folder.ts';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sluice-cache-'));
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

test('the cache is a folder that nobody else can look into', () => {
  const folder = cacheFolder({ XDG_CACHE_HOME: base });

  expect(folder).toBe(join(base, 'sluice'));
  expect(statSync(folder ?? '').mode & 0o777).toBe(0o700);
  expect(cacheFolder({ XDG_CACHE_HOME: base })).toBe(folder);
});

test('one that others may write to, a link and a file are not used', () => {
  const folder = cacheFolder({ XDG_CACHE_HOME: base }) ?? '';
  chmodSync(folder, 0o777);
  expect(cacheFolder({ XDG_CACHE_HOME: base })).toBeUndefined();
  rmSync(folder, { recursive: true });
  symlinkSync(tmpdir(), folder);
  expect(cacheFolder({ XDG_CACHE_HOME: base })).toBeUndefined();
  rmSync(folder);
  writeFileSync(folder, '');
  expect(cacheFolder({ XDG_CACHE_HOME: base })).toBeUndefined();
});

test('a relative XDG_CACHE_HOME does not count', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: 'here' })).not.toContain('here');
});
