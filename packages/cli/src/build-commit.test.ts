import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildCommit } from './build-commit.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const SHOWN = '0123456789ab';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sluice-commit-'));
});

afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  const target = path.join(root, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

test('in a package, it is the commit that the package was made from', () => {
  write('BUNDLED.json', JSON.stringify({ commit: COMMIT, isModified: false }));
  expect(buildCommit(root)).toBe(SHOWN);

  write('BUNDLED.json', JSON.stringify({ commit: COMMIT, isModified: true }));
  expect(buildCommit(root)).toBe(`${SHOWN}-modified`);
});

test.each([
  ['a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${COMMIT}\n` }],
  [
    'a packed branch',
    {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/packed-refs': `# pack-refs\n${'f'.repeat(40)} refs/heads/mainz\n${COMMIT} refs/heads/main\n`,
    },
  ],
  ['no branch', { '.git/HEAD': `${COMMIT}\n` }],
  [
    'a worktree',
    {
      '.git': 'gitdir: main/.git/worktrees/one\n',
      'main/.git/worktrees/one/HEAD': 'ref: refs/heads/one\n',
      'main/.git/worktrees/one/commondir': '../..\n',
      'main/.git/refs/heads/one': `${COMMIT}\n`,
    },
  ],
])('in a clone with %s, it is the commit of HEAD', (_, files) => {
  for (const [file, text] of Object.entries(files)) write(file, text);

  expect(buildCommit(root)).toBe(SHOWN);
});

test.each([
  ['nothing', {}],
  ['a damaged list', { 'BUNDLED.json': '{' }],
  ['a list without a commit', { 'BUNDLED.json': '{}' }],
  ['a branch without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }],
  ['a file of git that is damaged', { '.git': 'what?' }],
])('with %s it is not known', (_, files) => {
  for (const [file, text] of Object.entries(files)) write(file, text);

  expect(buildCommit(root)).toBeUndefined();
});
