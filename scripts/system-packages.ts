/**
 * Installs the Debian packages of the programs that tests call, unless they are there.
 *
 * `npm test` has to work on a machine that has Node, npm and apt, and nothing else.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

interface Program {
  readonly name: string;
  readonly packages: readonly string[];
}

const PROGRAMS: readonly Program[] = [
  { name: 'git', packages: ['git'] },
  { name: 'curl', packages: ['curl', 'ca-certificates'] },
  { name: 'python3', packages: ['python3'] },
  { name: 'openssl', packages: ['openssl'] },
  { name: 'mount', packages: ['mount'] },
  { name: 'chromium', packages: ['chromium'] },
  { name: 'cc', packages: ['gcc', 'libc6-dev'] },
];

/** The packages whose programs are on none of these folders. */
export function missingPackages(folders: readonly string[]): string[] {
  return PROGRAMS.filter(({ name }) => !folders.some((folder) => isProgram(folder, name))).flatMap(
    ({ packages }) => packages,
  );
}

function isProgram(folder: string, name: string): boolean {
  try {
    accessSync(path.join(folder, name), constants.X_OK);
    return true;
  } catch {
    // Absent or not to be run: both mean that this folder does not have it.
    return false;
  }
}

/** Answers whether everything is there now. */
export function installSystemPackages(): boolean {
  const { PATH = '' } = process.env;
  const folders = PATH.split(path.delimiter);
  const missing = missingPackages(folders);
  if (missing.length === 0) return true;
  console.log(`installing ${missing.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const { status, error } = spawnSync('apt-get', ['-qq', ...args], { env, stdio: 'inherit' });
    if (status === 0) continue;
    const why = error?.message ?? `apt-get ended with ${status}`;
    console.log(`cannot install ${missing.join(', ')}: ${why}; install them by hand`);
    return false;
  }
  return missingPackages(folders).length === 0;
}
