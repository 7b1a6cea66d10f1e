import type { Disk } from '@sluice/log';
import { expect, test } from 'vitest';
import type { MountedDisk } from './mounted-disk.ts';
import { type LifePlan, LogLives, type LogLivesOptions } from './testing/log-lives.ts';

const NEVER: LifePlan = { operation: Number.POSITIVE_INFINITY, isUnderWay: false, isCrash: true };

test.each([false, true])(
  'a crash at any operation (under way: %s) leaves all that was acknowledged',
  async (isUnderWay) => {
    for (let operation = 1; ; operation++) {
      const lives = new LogLives({ seed: 11 });
      const end = await told(`operation ${operation}`, async () => {
        const first = await lives.live(40, { operation, isUnderWay, isCrash: true });
        await lives.live(3, NEVER);
        return first;
      });
      if (end === 'closed') {
        // The run was long enough to be useful.
        expect(operation).toBeGreaterThan(200);
        expect(lives.ledger.first).toBeGreaterThan(0);
        return;
      }
    }
  },
);

test('processes that are killed, crash and meet faults over and over lose nothing', async () => {
  const seen = { killed: 0, failed: 0, closed: 0, records: 0, trimmed: 0, snapshots: 0 };
  for (let seed = 1; seed <= 200; seed++) {
    const lives = new LogLives({ seed, hasFaults: seed % 2 === 0 });
    for (let life = 1; life <= 8; life++) {
      const end = await told(`seed ${seed}, life ${life}`, () => liveOnce(lives));
      seen[end] += 1;
    }
    const { texts, first, snapshot } = lives.ledger;
    seen.records += texts.length;
    seen.trimmed += first;
    seen.snapshots += snapshot > 0 ? 1 : 0;
  }

  // Each of these happened often enough to count as tested.
  expect(seen.killed).toBeGreaterThan(500);
  expect(seen.failed).toBeGreaterThan(50);
  expect(seen.closed).toBeGreaterThan(50);
  expect(seen.records).toBeGreaterThan(5000);
  expect(seen.trimmed).toBeGreaterThan(1000);
  expect(seen.snapshots).toBeGreaterThan(100);
});

test.each([
  { what: 'names of folders', wrap: withoutFolderSyncs },
  { what: 'bytes of snapshots', wrap: withoutSnapshotSyncs },
  { what: 'room of segments', wrap: withoutFileSyncs },
])('a log that does not sync the $what is found out', async ({ wrap }) => {
  expect(await findTrouble({ wrap })).toBeDefined();
});

/** The first failure in many lives; undefined when there is none. */
async function findTrouble(options: Omit<LogLivesOptions, 'seed'>): Promise<Error | undefined> {
  for (let seed = 1; seed <= 100; seed++) {
    const lives = new LogLives({ seed, ...options });
    try {
      for (let life = 1; life <= 8; life++) await liveOnce(lives);
    } catch (cause) {
      return cause as Error;
    }
  }
  return undefined;
}

function liveOnce(lives: LogLives) {
  return lives.live(lives.randomSteps(), lives.randomPlan());
}

/** A copy with bound methods, so that a test can replace some of them. */
function copyOf(disk: Disk): Disk {
  const mount = disk as MountedDisk;
  return {
    list: (folder) => mount.list(folder),
    stat: (path) => mount.stat(path),
    makeFolder: (path) => mount.makeFolder(path),
    rename: (from, to) => mount.rename(from, to),
    remove: (path) => mount.remove(path),
    truncate: (path, bytes) => mount.truncate(path, bytes),
    syncFolder: (folder) => mount.syncFolder(folder),
    open: (path, mode) => mount.open(path, mode),
    openSync: (path, mode) => mount.openSync(path, mode),
    lock: (folder) => mount.lock(folder),
    networkFileSystemOf: () => mount.networkFileSystemOf(),
  };
}

function withoutFolderSyncs(disk: Disk): Disk {
  return { ...copyOf(disk), syncFolder: async () => undefined };
}

function withoutSnapshotSyncs(disk: Disk): Disk {
  return {
    ...copyOf(disk),
    openSync: (path, mode) => {
      const file = disk.openSync(path, mode);
      file.sync = () => undefined;
      return file;
    },
  };
}

function withoutFileSyncs(disk: Disk): Disk {
  return {
    ...copyOf(disk),
    open: async (path, mode) => {
      const file = await disk.open(path, mode);
      file.sync = async () => undefined;
      return file;
    },
  };
}

async function told<T>(where: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw new Error(`${where}: ${(cause as Error).message}`, { cause });
  }
}
