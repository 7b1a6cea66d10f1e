import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { describeLogConformance } from '../conformance/conformance.ts';
import { FolderInUseError, LogFailedError } from '../contract/log-errors.ts';
import type { Disk } from '../disk/disk.ts';
import { diskWith } from '../testing/full-disk-fixture.ts';
import { appendTexts, batchAfter, readTexts } from '../testing/log-fixture.ts';
import { SMALL_SEGMENT_BYTES, TempFolder } from '../testing/temp-folder-fixture.ts';
import { FileLog } from './file-log.ts';

describeLogConformance('file', async () => {
  const folder = await TempFolder.create();
  const log = await folder.open();
  let latest = log;
  return {
    log,
    rival: log,
    async reopen() {
      await latest.close();
      latest = await folder.open();
      return latest;
    },
    fillDisk() {
      folder.disk.isFull = true;
    },
    freeDisk() {
      folder.disk.isFull = false;
      folder.timers.fire();
    },
    dispose: () => folder.dispose(),
  };
});

let folder: TempFolder;
beforeEach(async () => {
  folder = await TempFolder.create();
});
afterEach(async () => {
  await folder.dispose();
});

describe('segments', () => {
  test('a log may begin at a later record, and only an empty folder listens to that', async () => {
    const log = await FileLog.open({ folder: folder.logFolder, firstRecord: 700 });
    expect(log.extent).toEqual({ first: 700, tail: 700 });
    await appendTexts(log, await log.acquire(), ['a', 'b']);
    await log.close();

    const again = await FileLog.open({ folder: folder.logFolder, firstRecord: 9 });

    expect(again.extent).toEqual({ first: 700, tail: 702 });
    expect(await readTexts(again, 700)).toEqual(['a', 'b']);
    await again.close();
  });

  test('a log rolls over many segments and reads across them from anywhere', async () => {
    const texts = Array.from({ length: 60 }, (_, index) => `${index}-`.repeat(60));
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), texts);

    expect((await folder.segments()).length).toBeGreaterThan(10);
    expect(await readTexts(log)).toEqual(texts);
    expect(await readTexts(log, 37)).toEqual(texts.slice(37));

    await log.close();
    const again = await folder.open();
    expect(await readTexts(again)).toEqual(texts);
    expect((await again.acquire()).tail).toBe(60);
  });

  test('a batch larger than a segment gets a segment of its size, even as the first', async () => {
    const large = 'x'.repeat(3 * SMALL_SEGMENT_BYTES);
    const log = await folder.open();
    const hold = await log.acquire();

    await appendTexts(log, hold, [large, 'small', large]);

    const sizes = await Promise.all(
      (await folder.segments()).map(async (s) => (await stat(s)).size),
    );
    expect(sizes).toEqual([3176, SMALL_SEGMENT_BYTES, 3176]);
    await log.close();
    expect(await readTexts(await folder.open())).toEqual([large, 'small', large]);
  });

  test('a new epoch cuts the last segment to its used length, removes an empty one', async () => {
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), ['four']);
    await log.acquire();
    await log.acquire();

    const [first, second, ...rest] = await folder.segments();

    expect(first).toMatch(/0000000000000000-0000000001\.log$/);
    expect((await stat(first)).size).toBe(64 + 48);
    expect(second).toMatch(/0000000000000001-0000000003\.log$/);
    expect((await stat(second)).size).toBe(SMALL_SEGMENT_BYTES);
    expect(rest).toEqual([]);
  });

  test('a large first batch survives the trimming at the next epoch', async () => {
    const large = 'x'.repeat(3 * SMALL_SEGMENT_BYTES);
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), [large]);

    await log.acquire();

    expect(await readTexts(log)).toEqual([large]);
  });

  test('an empty segment is read without its file, which the next epoch may remove', async () => {
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), ['kept']);
    await log.acquire();
    await rm((await folder.segments())[1]);

    expect(await readTexts(log)).toEqual(['kept']);
  });

  test('whatever the sizes of batches and segments, reading gives what was appended', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 1500 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 64, max: 2048 }), async (lengths, segmentBytes) => {
        const temp = await TempFolder.create();
        const texts = lengths.map((length, index) => String(index % 10).repeat(length));
        const log = await temp.open(temp.logFolder, segmentBytes);
        await appendTexts(log, await log.acquire(), texts);
        expect(await readTexts(log)).toEqual(texts);
        await log.close();
        expect(await readTexts(await temp.open())).toEqual(texts);
        await temp.dispose();
      }),
      { numRuns: 25 },
    );
  });
});

describe('the folder', () => {
  test('is made for its owner only, with whatever lies above it', async () => {
    const deep = join(folder.path, 'a', 'b', 'log');

    const log = await folder.open(deep);
    await log.acquire();

    expect((await stat(deep)).mode & 0o777).toBe(0o700);
    const [segment] = await folder.segments(deep);
    expect((await stat(segment)).mode & 0o777).toBe(0o600);
  });

  test('admits one log at a time, by whatever path it is reached', async () => {
    await folder.open();
    const alias = join(folder.path, 'alias');
    await symlink(folder.logFolder, alias);

    await expect(folder.open()).rejects.toThrow(FolderInUseError);
    await expect(folder.open()).rejects.toThrow(
      `'${folder.logFolder}' is in use by process ${process.pid} on host ${hostname()}, started at`,
    );
    await expect(folder.open(alias)).rejects.toThrow(FolderInUseError);
  });

  test('is free again after close, and holds segments, spares and the lock only', async () => {
    const log = await folder.open();
    await appendTexts(log, await log.acquire(), ['kept']);
    await log.close();

    const files = await readdir(folder.logFolder);
    expect(files.filter((file) => !file.endsWith('.spare'))).toEqual([
      '0000000000000000-0000000001.log',
      'lock.sqlite',
    ]);
    expect(await readTexts(await folder.open())).toEqual(['kept']);
  });

  test('has a lock that no other user can take', async () => {
    const lock = join(folder.logFolder, 'lock.sqlite');
    await (await folder.open()).close();
    await chmod(lock, 0o666);

    await folder.open();

    expect((await stat(lock)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder.logFolder, 'lock.json'))).mode & 0o777).toBe(0o600);
  });

  test('is opened whoever has taken an abstract socket in its name', async () => {
    await mkdir(folder.logFolder);
    const { dev, ino } = await stat(folder.logFolder, { bigint: true });
    const squatter = createServer();
    const name = `\0sluice:${dev}:${ino}`.padEnd(108, '.');
    await new Promise<void>((resolve) => squatter.listen({ path: name }, resolve));

    const opened = folder.open();

    await expect(opened).resolves.toBeInstanceOf(FileLog);
    await new Promise((resolve) => squatter.close(resolve));
  });

  test('is free again after an open that failed', async () => {
    await mkdir(folder.logFolder);
    const damaged = join(folder.logFolder, '0000000000000005-0000000001.log');
    await writeFile(damaged, 'not a segment at all, and longer than a header: '.repeat(4));

    await expect(folder.open()).rejects.toThrow('corrupt');
    await expect(folder.open()).rejects.toThrow('corrupt');
  });

  test('is rid of the half-made next segment of a process that died', async () => {
    await mkdir(folder.logFolder);
    await writeFile(join(folder.logFolder, 'next.tmp'), 'half-made');
    await writeFile(join(folder.logFolder, 'oversize.tmp'), 'half-made');

    const log = await folder.open();

    expect(await readdir(folder.logFolder)).toEqual(['lock.json', 'lock.sqlite']);
    await appendTexts(log, await log.acquire(), ['works']);
    expect(await readTexts(log)).toEqual(['works']);
  });
});

describe('a write error', () => {
  /** Lets `writes` writes pass, then fails once; the disk would work again afterwards. */
  function failAfter(writes: number): Disk {
    let count = 0;
    return diskWith('durable', (write) => (bytes, range, done) => {
      count += 1;
      if (count === writes + 1) return done(new Error('EIO: injected'), 0);
      return write(bytes, range, done);
    });
  }

  test('ends the log for good, and what was acknowledged is there after a restart', async () => {
    const log = await FileLog.open({ folder: folder.logFolder, disk: failAfter(2) });
    const hold = await log.acquire();
    const next = await appendTexts(log, hold, ['acknowledged']);

    await expect(log.append(batchAfter(next))).rejects.toThrow(LogFailedError);

    await expect(log.append(batchAfter(next))).rejects.toThrow('EIO: injected');
    await expect(log.acquire()).rejects.toThrow(LogFailedError);
    await expect(readTexts(log)).rejects.toThrow(LogFailedError);
    await log.close();
    expect(await readTexts(await folder.open())).toEqual(['acknowledged']);
  });

  test('while a segment is begun ends the log too', async () => {
    const log = await FileLog.open({ folder: folder.logFolder, disk: failAfter(0) });

    await expect(log.acquire()).rejects.toThrow(LogFailedError);

    await expect(log.acquire()).rejects.toThrow(LogFailedError);
    await log.close();
  });

  test('is told to a new holder that waits for the append', async () => {
    const log = await FileLog.open({ folder: folder.logFolder, disk: failAfter(1) });
    const appending = log.append(batchAfter(await log.acquire()));
    const acquiring = log.acquire();

    await expect(appending).rejects.toThrow(LogFailedError);
    await expect(acquiring).rejects.toThrow(LogFailedError);
    await log.close();
  });
});
