import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const LAUNCHER = join(import.meta.dirname, '../bin/sluice');

/** The first file of the sources, or that of the bundle, and whether the cache has it. */
const FIRST_FILE =
  /for (?:StrippedTypeScript|ESM) \S+\/cli\/(?:src\/main\.ts|dist\/\w\/main\.js)\.\.\.(.*)/;

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sluice-launcher-'));
});

afterEach(() => {
  rmSync(base, { recursive: true });
});

/** Starts the command, and returns where the first file came from. */
function start(env: NodeJS.ProcessEnv, cwd = base): 'cache' | 'source' {
  const { PATH } = process.env;
  const all = { PATH, HOME: base, NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...env };
  const { stderr, status } = spawnSync(LAUNCHER, ['--version'], { cwd, env: all });
  expect(status).toBe(0);
  const line = FIRST_FILE.exec(stderr.toString());
  return line?.[1].includes('success') ? 'cache' : 'source';
}

test('from the third start on even the first file is compiled already', () => {
  const starts = [start({}), start({}), start({})];

  expect(starts).toEqual(['source', 'source', 'cache']);
});

test('a cache in the current folder, or behind a link, is not used', () => {
  for (let n = 0; n < 3; n++) start({ XDG_CACHE_HOME: join(base, 'true') });
  cpSync(join(base, 'true'), join(base, 'here'), { recursive: true });
  mkdirSync(join(base, 'linked'));
  symlinkSync(join(base, 'true/sluice'), join(base, 'linked/sluice'));

  expect(start({ XDG_CACHE_HOME: join(base, 'true') })).toBe('cache');
  expect(start({ XDG_CACHE_HOME: 'here' })).toBe('source');
  expect(start({ XDG_CACHE_HOME: join(base, 'linked') })).toBe('source');
});
