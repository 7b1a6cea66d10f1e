import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const COMMIT = /^[0-9a-f]{40}/;
const SHOWN_CHARACTERS = 12;

/**
 * The commit that this program was made from, so that two builds of one version can be told apart.
 * Undefined when it is not known: neither a package nor a clone.
 */
export function buildCommit(root = path.join(import.meta.dirname, '../../..')): string | undefined {
  try {
    return fromPackage(root) ?? fromClone(root);
  } catch {
    // It is only shown; a damaged file is no reason to fail.
    return undefined;
  }
}

/** `npm run pack` lists the origin of all files. */
function fromPackage(root: string): string | undefined {
  const text = read(path.join(root, 'BUNDLED.json'));
  if (text === undefined) return undefined;
  const { commit, isModified } = JSON.parse(text) as { commit?: string; isModified?: boolean };
  if (commit === undefined) return undefined;
  return `${commit.slice(0, SHOWN_CHARACTERS)}${isModified === true ? '-modified' : ''}`;
}

/** The files of git are read directly: starting git takes longer than most commands. */
function fromClone(root: string): string | undefined {
  const folder = gitFolder(path.join(root, '.git'));
  if (folder === undefined) return undefined;
  const head = read(path.join(folder, 'HEAD'))?.trim() ?? '';
  const name = /^ref: (.+)$/.exec(head)?.[1];
  const commit = name === undefined ? head : commitOf(name, folder);
  return commit !== undefined && COMMIT.test(commit)
    ? commit.slice(0, SHOWN_CHARACTERS)
    : undefined;
}

/** In a worktree, `.git` is a file that names the folder. */
function gitFolder(git: string): string | undefined {
  const found = statSync(git, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return found && git;
  const named = /^gitdir: (.+)$/m.exec(read(git) ?? '')?.[1];
  return named === undefined ? undefined : path.resolve(path.dirname(git), named);
}

function commitOf(name: string, folder: string): string | undefined {
  const shared = path.resolve(folder, read(path.join(folder, 'commondir'))?.trim() ?? '.');
  const packed = read(path.join(shared, 'packed-refs'))?.split('\n');
  return (
    read(path.join(folder, name)) ??
    read(path.join(shared, name)) ??
    packed?.find((line) => line.endsWith(` ${name}`))
  );
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
