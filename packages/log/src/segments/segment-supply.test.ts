import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FullDisk, ManualTimers } from '../testing/full-disk-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { SegmentSupply } from './segment-supply.ts';

const WAIT = { timeout: 20_000 };

let folder: TempFolder;
let disk: FullDisk;
let timers: ManualTimers;
let supplies: SegmentSupply[];
beforeEach(async () => {
  supplies = [];
  disk = new FullDisk();
  timers = new ManualTimers();
  folder = await TempFolder.create();
});
afterEach(async () => {
  for (const supply of supplies) await supply.close();
  await folder.dispose();
});

function makeSupply(path: string, segmentBytes: number): SegmentSupply {
  const { startTimer } = timers;
  const supply = new SegmentSupply({ disk: disk.disk, folder: path, segmentBytes, startTimer });
  supplies.push(supply);
  return supply;
}

async function openSupply(segmentBytes: number): Promise<SegmentSupply> {
  const supply = makeSupply(folder.path, segmentBytes);
  await supply.open();
  return supply;
}

async function spares(): Promise<string[]> {
  return (await readdir(folder.path)).filter((file) => file.endsWith('.spare')).sort();
}

/** A file that once was a segment. */
async function oldSegment(name: string, bytes = 1000): Promise<{ path: string; bytes: number }> {
  const path = join(folder.path, name);
  await writeFile(path, 'x'.repeat(bytes));
  return { path, bytes };
}

describe('a prepared file', () => {
  test('holds zeros that take up space on the disk', async () => {
    const supply = await openSupply(1_000_000);

    const spare = (await supply.take(64))!;

    expect(spare.bytes).toBe(1_000_000);
    expect((await readFile(spare.path)).equals(Buffer.alloc(1_000_000))).toBe(true);
    const { blocks, mode } = await stat(spare.path);
    expect(blocks * 512).toBeGreaterThanOrEqual(1_000_000);
    expect(mode & 0o777).toBe(0o600);
  });

  test('is followed by a second one as a reserve, and by no third', async () => {
    const supply = await openSupply(1000);

    supply.prepare();

    await vi.waitFor(async () => expect(await spares()).toHaveLength(2), WAIT);
    supply.prepare();
    await supply.close();
    expect(await readdir(folder.path)).toEqual(['1.spare', '2.spare']);
  });

  test('is not used for a batch that no segment holds', async () => {
    const supply = await openSupply(1000);
    supply.prepare();

    const oversize = await supply.take(5000);
    const next = await supply.take(1000);

    expect((await stat(oversize!.path)).size).toBe(5000);
    expect((await stat(next!.path)).size).toBe(1000);
  });

  test('that cannot be made is told to whoever takes the next one', async () => {
    const supply = makeSupply(`${folder.path}/absent`, 1000);
    supply.prepare();

    await expect(supply.take(64)).rejects.toThrow('ENOENT');
  });

  test('that is half-made is gone after close', async () => {
    const supply = await openSupply(32 * 2 ** 20);
    supply.prepare();

    await supply.close();

    expect(await readdir(folder.path)).toEqual([]);
  });

  test('serves the next process, unless it is of another size or sparse', async () => {
    await oldSegment('7.spare');
    await oldSegment('8.spare', 999);
    const sparse = await oldSegment('9.spare', 0);
    await truncate(sparse.path, 1000);

    const supply = await openSupply(1000);

    expect(await spares()).toEqual(['7.spare']);
    expect((await supply.take(64))?.path).toBe(join(folder.path, '7.spare'));
  });
});

describe('a segment that is no longer needed', () => {
  test('becomes the next one as it is', async () => {
    const supply = await openSupply(1000);

    await supply.recycle(await oldSegment('old.log'));
    const spare = await supply.take(1000);

    expect(await readdir(folder.path)).toEqual(['1.spare']);
    expect(await readFile(spare!.path, 'utf8')).toBe('x'.repeat(1000));
  });

  test('is removed when enough are kept', async () => {
    const supply = await openSupply(1000);

    for (let count = 0; count < 9; count += 1) await supply.recycle(await oldSegment('old.log'));

    expect(await readdir(folder.path)).toEqual(['1.spare', '2.spare', '3.spare', '4.spare']);
  });

  test.each([999, 1001])('is removed when it has %i bytes instead of 1000', async (bytes) => {
    const supply = await openSupply(1000);

    await supply.recycle(await oldSegment('old.log', bytes));

    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe('a full disk', () => {
  test('is tried again after a second, and again, until there is room', async () => {
    const supply = await openSupply(1000);
    disk.isFull = true;

    expect(await supply.take(64)).toBeUndefined();
    expect(supply.isFull).toBe(true);
    expect(timers.delaysMs).toEqual([1000]);
    timers.fire();
    await vi.waitFor(() => expect(timers.delaysMs).toEqual([1000]), WAIT);
    expect(supply.isFull).toBe(true);
    disk.isFull = false;
    timers.fire();

    await vi.waitFor(() => expect(supply.isFull).toBe(false), WAIT);
    expect(await spares()).toEqual(['1.spare', '2.spare']);
    expect(timers.delaysMs).toEqual([]);
  });

  test.each(['ENOSPC', 'EDQUOT'])('that says %s leaves nothing half-made', async (code) => {
    const supply = await openSupply(600_000);
    disk.code = code;
    disk.writesLeft = 1;

    expect(await supply.take(64)).toBeUndefined();

    expect(await readdir(folder.path)).toEqual([]);
  });

  test('that says EIO is no full disk', async () => {
    const supply = await openSupply(1000);
    disk.code = 'EIO';
    disk.isFull = true;

    await expect(supply.take(64)).rejects.toThrow('EIO');

    expect(supply.isFull).toBe(false);
    expect(timers.delaysMs).toEqual([]);
  });

  test('that fails at the next try is called full no more, and the failure is told', async () => {
    const supply = await openSupply(1000);
    disk.isFull = true;
    expect(await supply.take(64)).toBeUndefined();
    expect(supply.isFull).toBe(true);

    disk.code = 'EIO';
    timers.fire();

    await vi.waitFor(() => expect(supply.isFull).toBe(false), WAIT);
    await expect(supply.take(64)).rejects.toThrow('EIO');
    disk.code = 'ENOSPC';
    await expect(supply.take(5000)).rejects.toThrow('EIO');
    expect(supply.isFull).toBe(false);
  });

  test('leaves the reserve', async () => {
    const supply = await openSupply(1000);
    supply.prepare();
    await vi.waitFor(async () => expect(await spares()).toHaveLength(2), WAIT);
    disk.isFull = true;

    await supply.take(64);
    supply.prepare();
    await vi.waitFor(() => expect(supply.isFull).toBe(true), WAIT);

    expect(await supply.take(64)).toBeDefined();
    expect(await supply.take(64)).toBeUndefined();
  });

  test('is full no more when old segments come back', async () => {
    const supply = await openSupply(1000);
    disk.isFull = true;
    await supply.take(64);

    await supply.recycle(await oldSegment('old.log'));
    expect(supply.isFull).toBe(true);
    await supply.recycle(await oldSegment('old.log'));

    expect(supply.isFull).toBe(false);
    expect(timers.delaysMs).toEqual([]);
  });

  test('without room for a large batch says so and has its spares still', async () => {
    const supply = await openSupply(1000);
    supply.prepare();
    await vi.waitFor(async () => expect(await spares()).toHaveLength(2), WAIT);
    disk.isFull = true;

    expect(await supply.take(5000)).toBeUndefined();

    expect(supply.isFull).toBe(true);
    expect(await supply.take(1000)).toBeDefined();
    expect(await readdir(folder.path)).not.toContain('oversize.tmp');
  });

  test('is not tried again after close', async () => {
    const supply = await openSupply(1000);
    disk.isFull = true;
    await supply.take(64);

    await supply.close();

    expect(timers.delaysMs).toEqual([]);
  });
});
