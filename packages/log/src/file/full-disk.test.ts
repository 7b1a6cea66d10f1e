import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LogFullError } from '../contract/log-errors.ts';
import type { LogBatch } from '../contract/partition-log.ts';
import { FileSnapshots } from '../snapshots/file-snapshots.ts';
import { ManualTimers } from '../testing/full-disk-fixture.ts';
import { type AppendPlace, appendTexts, batchAfter, readTexts } from '../testing/log-fixture.ts';
import { SmallDisk } from '../testing/tmpfs-fixture.ts';
import { FileLog } from './file-log.ts';

const WAIT = { timeout: 20_000 };

const PROGRAM = fileURLToPath(new URL('../testing/appending-process.ts', import.meta.url));
const SEGMENT_BYTES = 16 * 1024;
/** Three of these fill a segment. */
const TEXT = 'x'.repeat(5000);

let disk: SmallDisk;
let timers: ManualTimers;
let logs: FileLog[];
beforeEach(async () => {
  disk = await SmallDisk.mount(512 * 1024);
  timers = new ManualTimers();
  logs = [];
});
afterEach(async () => {
  for (const log of logs) await log.close();
  await disk.unmount();
});

async function openLog(): Promise<FileLog> {
  const { startTimer } = timers;
  const folder = disk.logFolder;
  const log = await FileLog.open({ folder, segmentBytes: SEGMENT_BYTES, startTimer });
  logs.push(log);
  return log;
}

async function untilSparesAreReady(): Promise<void> {
  await vi.waitFor(async () => {
    const files = await readdir(disk.logFolder);
    expect(files.filter((file) => file.endsWith('.spare'))).toHaveLength(2);
  }, WAIT);
}

/**
 * Appends until the log has no room, and counts the batches that landed before and after it was
 * full.
 */
async function fillUp(log: FileLog, hold: AppendPlace) {
  const landed = { before: 0, afterwards: 0 };
  for (let tail = hold.tail; ; tail += 1) {
    const refused: LogBatch = batchAfter({ ...hold, tail }, { bytes: Buffer.from(TEXT) });
    const outcome = await log.append(refused);
    if (outcome === 'full') return { landed, refused, tail };
    expect(outcome).toBe('ok');
    if (log.isFull) landed.afterwards += 1;
    else landed.before += 1;
  }
}

test('a full disk is told, the reserve is used, and room that returns is found', async () => {
  const log = await openLog();
  const hold = await appendTexts(log, await log.acquire(), [TEXT]);
  await untilSparesAreReady();
  await disk.fill();

  const { landed, refused, tail } = await fillUp(log, hold);

  // Two more in the current segment, then three each in the next and in the reserve.
  expect(landed.before + landed.afterwards).toBe(8);
  expect(landed.afterwards).toBeGreaterThanOrEqual(3);
  expect(await log.append(refused)).toBe('full');
  timers.fire();
  await vi.waitFor(() => expect(timers.delaysMs).toEqual([1000]), WAIT);
  expect(log.isFull).toBe(true);

  await disk.free();
  timers.fire();
  await vi.waitFor(() => expect(log.isFull).toBe(false), WAIT);
  expect(await log.append(refused)).toBe('ok');
  expect(await readTexts(log)).toEqual(Array.from({ length: tail + 1 }, () => TEXT));
  await log.close();
  expect(await readTexts(await openLog())).toHaveLength(tail + 1);
});

test('a trim makes room on a full disk without any other help', async () => {
  const log = await openLog();
  const hold = await log.acquire();
  await untilSparesAreReady();
  await disk.fill();
  const { refused, tail } = await fillUp(log, hold);

  await log.trim({ epoch: hold.epoch, upTo: tail });

  expect(log.isFull).toBe(false);
  expect(await log.append(refused)).toBe('ok');
});

test('a process that is killed on a full disk loses nothing that it acknowledged', async () => {
  await disk.fill(64 * 1024);
  const child = spawn(process.execPath, [PROGRAM, disk.logFolder], { stdio: 'pipe' });
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'full') child.kill('SIGKILL');
    else if (/^\d+$/.test(line)) acknowledged = Number(line) + 1;
  }
  await disk.fill();

  const log = await openLog();

  expect(acknowledged).toBeGreaterThan(100);
  expect(await readTexts(log)).toHaveLength(acknowledged);
  await expect(log.acquire()).rejects.toThrow(LogFullError);
  await expect(log.acquire()).rejects.toThrow('free some space, then try again');
  await disk.free();
  timers.fire();
  await vi.waitFor(() => expect(log.isFull).toBe(false), WAIT);
  const hold = await log.acquire();
  expect(hold.tail).toBe(acknowledged);
  await appendTexts(log, hold, ['later']);
  expect(await readTexts(log, acknowledged)).toEqual(['later']);
});

test('a log whose spares are ready starts on a full disk', async () => {
  const first = await openLog();
  await appendTexts(first, await first.acquire(), [TEXT]);
  await untilSparesAreReady();
  await first.close();
  await disk.fill();

  const log = await openLog();
  const hold = await log.acquire();

  expect(hold.tail).toBe(1);
  await appendTexts(log, hold, [TEXT]);
});

test('a snapshot that finds no room fails, gives it back, and leaves the others', async () => {
  const folder = join(disk.path, 'snapshots');
  const snapshots = await FileSnapshots.open(folder);
  const save = (position: number, pieces: number) =>
    snapshots.save({ position, schema: 1, hash: 1, base: 1 }, (write) => {
      for (let i = 0; i < pieces; i++) write(Buffer.alloc(10_000, 'x'));
    });
  await save(1, 3);

  await expect(save(2, 100)).rejects.toThrow('ENOSPC');

  expect(await snapshots.positions()).toEqual([1]);
  expect(await readdir(folder)).toHaveLength(1);
  await save(2, 40);
  expect(await snapshots.positions()).toEqual([2, 1]);
});
