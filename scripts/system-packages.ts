/**
 * Installs the Debian packages of programs that tests and benchmarks call, unless they are there.
 *
 * `npm test` has to work on a machine that has Node, npm and apt, and nothing else.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

export interface Program {
  readonly name: string;
  readonly packages: readonly string[];
}

/** Its server is on no path, but this program of the package is. */
export const POSTGRES: Program = { name: 'pg_ctlcluster', packages: ['postgresql'] };

const PROGRAMS: readonly Program[] = [
  { name: 'git', packages: ['git'] },
  { name: 'curl', packages: ['curl', 'ca-certificates'] },
  { name: 'python3', packages: ['python3'] },
  { name: 'pip3', packages: ['python3-pip'] },
  { name: 'openssl', packages: ['openssl'] },
  { name: 'mount', packages: ['mount'] },
  { name: 'ip', packages: ['iproute2'] },
  { name: 'chromium', packages: ['chromium'] },
  { name: 'promtool', packages: ['prometheus'] },
  { name: 'dockerd', packages: ['docker.io'] },
  { name: 'docker-compose', packages: ['docker-compose'] },
  { name: 'podman', packages: ['podman'] },
  { name: 'busybox', packages: ['busybox-static'] },
  { name: 'ffmpeg', packages: ['ffmpeg'] },
  { name: 'systemd-analyze', packages: ['systemd'] },
  POSTGRES,
  { name: 'cc', packages: ['gcc', 'libc6-dev'] },
];

/** The packages whose programs are in none of these folders. */
export function missingPackages(
  folders: readonly string[],
  programs: readonly Program[] = PROGRAMS,
): string[] {
  const isThere = ({ name }: Program) => folders.some((each) => isProgram(each, name));
  return programs.filter((program) => !isThere(program)).flatMap(({ packages }) => packages);
}

function isProgram(folder: string, name: string): boolean {
  try {
    accessSync(path.join(folder, name), constants.X_OK);
    return true;
  } catch {
    // Absent or not executable: in both cases this folder does not have it.
    return false;
  }
}

/** Installs what tests call; returns whether everything is there now. */
export function installSystemPackages(): boolean {
  return installPrograms(PROGRAMS);
}

/** Returns whether everything is there now. */
export function installPrograms(programs: readonly Program[]): boolean {
  const { PATH = '' } = process.env;
  const folders = PATH.split(path.delimiter);
  const missing = missingPackages(folders, programs);
  if (missing.length === 0) return true;
  console.error(`installing ${missing.join(', ')}`);
  // Debian starts what it installs, unless the machine is in this run level.
  const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const stdio = ['ignore', 2, 2] as const;
    const { status, error } = spawnSync('apt-get', ['-qq', ...args], { env, stdio: [...stdio] });
    if (status === 0) continue;
    const why = error?.message ?? `apt-get ended with ${status}`;
    console.error(`cannot install ${missing.join(', ')}: ${why}; install them by hand`);
    return false;
  }
  return missingPackages(folders, programs).length === 0;
}
