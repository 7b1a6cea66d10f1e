import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
  const folder = cacheFolder({ XDG_CACHE_HOME: base }, '1');

  expect(folder).toBe(join(base, 'sluice', '1'));
  expect(statSync(join(base, 'sluice')).mode & 0o777).toBe(0o700);
  expect(cacheFolder({ XDG_CACHE_HOME: base }, '1')).toBe(folder);
});

test('one that others may write to, a link and a file are not used', () => {
  const folder = join(base, 'sluice');
  cacheFolder({ XDG_CACHE_HOME: base }, '1');
  chmodSync(folder, 0o777);
  expect(cacheFolder({ XDG_CACHE_HOME: base }, '1')).toBeUndefined();
  rmSync(folder, { recursive: true });
  symlinkSync(tmpdir(), folder);
  expect(cacheFolder({ XDG_CACHE_HOME: base }, '1')).toBeUndefined();
  rmSync(folder);
  writeFileSync(folder, '');
  expect(cacheFolder({ XDG_CACHE_HOME: base }, '1')).toBeUndefined();
});

test('a relative XDG_CACHE_HOME does not count', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: 'here' }, '1')).not.toContain('here');
});

test('what versions left that nobody starts any more is removed, and nothing else', () => {
  const all = join(base, 'sluice');
  for (const [name, days] of [
    ['old', 31],
    ['other', 29],
    ['used', 300],
  ] as const) {
    mkdirSync(join(all, name, 'v24'), { recursive: true });
    writeFileSync(join(all, name, 'v24', 'code'), '');
    const seconds = Date.now() / 1000 - days * 86_400;
    utimesSync(join(all, name), seconds, seconds);
  }
  chmodSync(all, 0o700);

  const folder = cacheFolder({ XDG_CACHE_HOME: base }, 'used') ?? '';

  expect(readdirSync(all).sort()).toEqual(['other', 'used']);
  expect(readdirSync(join(folder, 'v24'))).toEqual(['code']);
  expect(Date.now() - statSync(folder).mtimeMs).toBeLessThan(86_400_000);
});
