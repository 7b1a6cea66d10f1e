import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { MUTANTS } from '../all-mutants.ts';
import type { Mutant } from '../mutant.ts';
import { Control, hunt } from './hunt.ts';
import { MutantProcess } from './mutant-process.ts';
import { makeMutatedCopy } from './mutated-copy.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function runMain(...flags: string[]): { readonly code: number | null; readonly printed: string } {
  const { status, stdout, stderr } = spawnSync('node', [MAIN, ...flags], { encoding: 'utf8' });
  return { code: status, printed: stdout + stderr };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-mutants-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('the command catches an acknowledgement before the commit, and says by which rule', () => {
  const { code, printed } = runMain('--only', 'acknowledge-before-commit', '--minutes', '1');

  expect(printed).toMatch(/^acknowledge-before-commit +I29 +[1-5] /m);
  expect(printed).toContain('1 of 1 planted bugs were caught');
  expect(code).toBe(0);
});

test('the command refuses a bug that is not there', () => {
  const { code, printed } = runMain('--only', 'no-such-bug');

  expect(printed).toContain("no planted bug is called 'no-such-bug'");
  expect(code).toBe(2);
});

const harmless: Mutant = {
  name: 'harmless',
  file: 'core/src/apply/apply.ts',
  find: 'state.now = at;',
  replace: 'state.now = at; // changed',
  what: 'Nothing.',
};

test('a change that breaks nothing is not caught', async () => {
  const control = new Control();
  ends.push(() => control.end());

  const { catch: caught, seeds } = await hunt(harmless, control, 1);

  expect(caught).toBeUndefined();
  expect(seeds).toBe(1);
});

test('a bug in a file that no world loads is a mistake, not one that nobody finds', async () => {
  const process = new MutantProcess({ ...harmless, file: 'cli/src/main.ts', find: 'import' });
  ends.push(() => process.end());

  await expect(process.run(1, 'safety')).rejects.toThrow('no world loads packages/cli/src/main.ts');
});

test('a bug that ends the process is caught by its error', async () => {
  const replace = "state.now = at; throw new TypeError('broken');";
  const process = new MutantProcess({ ...harmless, replace });
  ends.push(() => process.end());

  const { failure } = await process.run(1, 'safety');

  expect(failure?.rule).toBe('TypeError');
});

test('a bug with which a world does not come to an end is caught', async () => {
  const replace = 'state.now = at; while (state.now >= 0) state.now += 1;';
  const process = new MutantProcess({ ...harmless, replace }, 3000);
  ends.push(() => process.end());

  const { failure } = await process.run(1, 'safety');

  expect(failure?.rule).toBe('no end');
});

test('every planted bug is code that a compiler takes', () => {
  let left: readonly Mutant[] = MUTANTS;
  while (left.length > 0) {
    const folder = newFolder();
    left = makeMutatedCopy(folder, left);
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout, status } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, '']);
  }
});
