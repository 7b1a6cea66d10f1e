import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SOURCE = 'packages/core/src/a.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-bundle-'));
  for (const folder of ['cli/dist/a', 'cli/src', 'core/src']) {
    mkdirSync(join(root, 'packages', folder), { recursive: true });
  }
  for (const name of ['bundled-main.ts', 'bundled-sources.ts']) {
    copyFileSync(join(import.meta.dirname, name), join(root, 'packages/cli/dist/a', name));
  }
  writeFileSync(join(root, 'packages/cli/dist/a/main.ts'), 'console.log("bundle")');
  writeFileSync(join(root, 'packages/cli/src/main.ts'), 'console.log("sources")');
  writeFileSync(join(root, SOURCE), 'export const a = 1;');
  const { size, mtimeMs } = statSync(join(root, SOURCE));
  const list = JSON.stringify([[SOURCE, size, mtimeMs]]);
  writeFileSync(join(root, 'packages/cli/dist/a/sources.json'), list);
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function whatRuns(): string {
  const main = join(root, 'packages/cli/dist/a/bundled-main.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [main], { encoding: 'utf8' });
  return stdout.trim() || stderr;
}

test('the bundle runs while its sources are as they were', () => {
  expect(whatRuns()).toBe('bundle');
});

test('a source that was edited makes the sources run', () => {
  writeFileSync(join(root, SOURCE), 'export const a = 12;');

  expect(whatRuns()).toBe('sources');
});

test('a source that was written again with as many bytes makes the sources run', () => {
  const { mtimeMs } = statSync(join(root, SOURCE));
  do writeFileSync(join(root, SOURCE), 'export const a = 2;');
  while (statSync(join(root, SOURCE)).mtimeMs === mtimeMs);

  expect(whatRuns()).toBe('sources');
});

test('a source that is gone makes the sources run', () => {
  rmSync(join(root, SOURCE));

  expect(whatRuns()).toBe('sources');
});
