/** Data that simulated crashes once lost, one test per case. */
import { type Disk, FileLog, FileSnapshots, LogFailedError, type LogHold } from '@sluice/log';
import { expect, test } from 'vitest';
import { TestMachine } from './testing/test-machine.ts';

const FOLDER = '/data/log';
const SEEDS = 40;
/** Each text needs a separate segment. */
const TEXTS = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(600));

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type KillAt = (operation: string, path: string) => boolean;

/** Runs a process until it ends, or until it is killed at the given operation. */
async function live(
  machine: TestMachine,
  run: (disk: Disk) => Promise<void>,
  killAt: KillAt = () => false,
): Promise<void> {
  const killed = Promise.withResolvers<void>();
  const disk = machine.boot({
    observe: (operation, path) => {
      if (!killAt(operation, path)) return;
      disk.kill();
      killed.resolve();
    },
  });
  await Promise.race([run(disk), killed.promise]);
  disk.kill();
}

function openLog(disk: Disk): Promise<FileLog> {
  const startTimer = () => () => undefined;
  return FileLog.open({ folder: FOLDER, segmentBytes: 1024, disk, random: () => 7, startTimer });
}

async function append(log: FileLog, hold: LogHold, texts: readonly string[]): Promise<void> {
  for (const [index, text] of texts.entries()) {
    const expectedTail = hold.tail + index;
    const bytes = encoder.encode(text);
    const batch = { epoch: hold.epoch, expectedTail, nonce: expectedTail, recordCount: 1, bytes };
    expect(await log.append(batch)).toBe('ok');
  }
}

async function textsIn(log: FileLog, from = 0): Promise<string[]> {
  const texts: string[] = [];
  await log.read(from, ({ bytes }) => texts.push(decoder.decode(bytes)));
  return texts;
}

test.each(['/', '/data'])(
  'a folder that was made but not synced in %s before a kill outlives a later crash',
  async (parent) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const machine = new TestMachine(seed);
      const killAt: KillAt = (operation, path) => operation === 'syncFolder' && path === parent;
      await live(machine, async (disk) => void (await openLog(disk)), killAt);
      await live(machine, async (disk) => {
        const log = await openLog(disk);
        await append(log, await log.acquire(), ['acknowledged']);
      });

      machine.disk.crash();

      await live(machine, async (disk) => {
        expect(await textsIn(await openLog(disk))).toEqual(['acknowledged']);
      });
    }
  },
);

test('a batch whose write failed and that the next process found outlives a crash', async () => {
  const failed = 'failed '.repeat(100);
  let found = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const machine = new TestMachine(seed);
    await live(machine, async (disk) => {
      const log = await openLog(disk);
      const hold = await log.acquire();
      await append(log, hold, ['acknowledged']);
      machine.disk.faults.failWrite();
      const failing = append(log, { ...hold, tail: 1 }, [failed]);
      await expect(failing).rejects.toThrow(LogFailedError);
    });
    let texts: string[] = [];
    await live(machine, async (disk) => {
      const log = await openLog(disk);
      await append(log, await log.acquire(), ['later']);
      texts = await textsIn(log);
    });

    machine.disk.crash();

    await live(machine, async (disk) => {
      expect(await textsIn(await openLog(disk))).toEqual(texts);
    });
    if (texts.includes(failed)) found += 1;
  }
  expect(found).toBeGreaterThan(5);
});

test('a spare is not written to while it may turn back into a segment', async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const machine = new TestMachine(seed);
    let isRecycling = false;
    await live(
      machine,
      async (disk) => {
        const log = await openLog(disk);
        const hold = await log.acquire();
        await append(log, hold, TEXTS);
        isRecycling = true;
        await log.trim({ epoch: hold.epoch, upTo: 1 });
      },
      (operation) => isRecycling && operation === 'syncFolder',
    );
    // The next process writes its segment header into a spare, and gets no further.
    const killAt: KillAt = (operation, path) => operation === 'rename' && path.endsWith('.spare');
    await live(machine, async (disk) => void (await (await openLog(disk)).acquire()), killAt);

    machine.disk.crash();

    await live(machine, async (disk) => {
      expect(await textsIn(await openLog(disk), 1)).toEqual(TEXTS.slice(1));
    });
  }
});

test('a snapshot that is told of outlives a crash, though its process was killed', async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const machine = new TestMachine(seed);
    let isRenamed = false;
    await live(
      machine,
      async (disk) => {
        const snapshots = await FileSnapshots.open('/snapshots', disk);
        await snapshots.save({ position: 3, schema: 1, hash: 1, base: 0 }, () => undefined);
      },
      (operation) => {
        if (isRenamed) return operation === 'syncFolder';
        isRenamed = operation === 'rename';
        return false;
      },
    );
    let told: readonly number[] = [];
    await live(machine, async (disk) => {
      told = await (await FileSnapshots.open('/snapshots', disk)).positions();
    });

    machine.disk.crash();

    await live(machine, async (disk) => {
      const snapshots = await FileSnapshots.open('/snapshots', disk);
      expect(await snapshots.positions()).toEqual(told);
    });
    expect(told).toEqual([3]);
  }
});
