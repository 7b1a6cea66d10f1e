/**
 * Brings node_modules up to date, if it is not.
 *
 * Plain JavaScript without packages: it runs on the system's Node before anything is installed.
 * What must stay true:
 *
 * 1. The stamp exists only while node_modules is what the manifests hashed in it ask for.
 * 2. Only the holder of the lock changes node_modules. The lock is a folder with one file, named
 *    after the holder's process id. Renaming a prepared folder onto it succeeds only while it is
 *    absent or empty. So if several processes remove the file of a dead holder, one gets the lock.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const STAMP = join(ROOT, 'node_modules', '.sluice-install');
const LOCK = join(tmpdir(), `.sluice-install-lock-${sha256(ROOT).slice(0, 16)}`);
const LOCK_WAIT_MS_MAX = 300_000;
const LOCK_POLL_MS = 200;

// Under `npm test --silent` the inner npm would keep its errors to itself, and under
// NODE_ENV=production it would leave out what the tests need.
const NPM_ARGS = [
  'ci',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--include=dev',
  '--include=optional',
];

class InstallError extends Error {}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}

function hashOfManifests() {
  const packages = readdirSync(join(ROOT, 'packages')).sort();
  const manifests = packages.map((name) => join('packages', name, 'package.json'));
  const contents = ['package-lock.json', 'package.json', ...manifests].map((name) => [
    name,
    readIfPresent(join(ROOT, name)),
  ]);
  return sha256(JSON.stringify(contents));
}

function readIfPresent(file) {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  return readFileSync(file, 'utf8');
}

function isUpToDate() {
  return readIfPresent(STAMP) === hashOfManifests();
}

function install() {
  console.error('installing packages (once, about 15 s) …');
  const hash = hashOfManifests();
  rmSync(STAMP, { force: true });

  const npm = spawnSync('npm', NPM_ARGS, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  if (npm.error !== undefined) throw new InstallError(`cannot run npm: ${npm.error.message}`);
  if (npm.status !== 0) {
    const end = npm.signal === null ? `exit code ${npm.status}` : `signal ${npm.signal}`;
    throw new InstallError(`'npm ${NPM_ARGS.join(' ')}' ended with ${end}; its message is above`);
  }

  writeFileSync(STAMP, hash);
}

function tryLock() {
  const prepared = mkdtempSync(`${LOCK}-`);
  writeFileSync(join(prepared, String(process.pid)), '');
  try {
    renameSync(prepared, LOCK);
    return true;
  } catch (error) {
    rmSync(prepared, { recursive: true });
    if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false;
    throw new InstallError(`cannot take the lock ${LOCK}: ${error.message}`);
  }
}

function removeDeadHolder() {
  for (const pid of readHolders()) {
    if (!isAlive(Number(pid))) rmSync(join(LOCK, pid), { force: true });
  }
}

function readHolders() {
  try {
    return readdirSync(LOCK);
  } catch (error) {
    // The holder has released the lock since we failed to take it.
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, but belongs to another user.
    return error.code === 'EPERM';
  }
}

function takeLock() {
  const giveUpAt = Date.now() + LOCK_WAIT_MS_MAX;
  while (!tryLock()) {
    removeDeadHolder();
    if (Date.now() > giveUpAt) {
      const holder = readHolders().join(', ');
      throw new InstallError(`process ${holder} holds the lock; if it hangs, remove ${LOCK}`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

function installUnderLock() {
  takeLock();
  try {
    // The previous holder of the lock may have done the work.
    if (!isUpToDate()) install();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

try {
  if (!isUpToDate()) installUnderLock();
} catch (error) {
  if (!(error instanceof InstallError)) throw error;
  console.error(`cannot install the packages of Sluice: ${error.message}`);
  process.exitCode = 1;
}
