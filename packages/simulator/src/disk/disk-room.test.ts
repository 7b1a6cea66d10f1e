import { expect, test } from 'vitest';
import { TestMachine, write, writeAt } from './testing/test-machine.ts';

const SECTOR = 512;

test('writes need room by the sector, and one for which there is none is ENOSPC', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  machine.disk.capacityBytes = 3 * SECTOR;
  const file = await disk.open('/file', 'create');

  expect(await writeAt(file, 'x'.repeat(SECTOR + 1), 0)).toBe(SECTOR + 1);
  expect(machine.disk.usedBytes).toBe(2 * SECTOR);
  // There is room up to the end of the third sector.
  expect(await writeAt(file, 'x'.repeat(2 * SECTOR), SECTOR + 1)).toBe(2 * SECTOR - 1);
  await expect(writeAt(file, 'x', 3 * SECTOR)).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('bytes that have room can be written on a full disk', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await write(disk, '/file', 'x'.repeat(2 * SECTOR));

  machine.disk.capacityBytes = 0;

  expect(await writeAt(await disk.open('/file', 'durable'), 'y'.repeat(2 * SECTOR), 0)).toBe(1024);
});

test('a file that was only made longer has no room yet', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await write(disk, '/file', 'x'.repeat(SECTOR));

  await disk.truncate('/file', 10 * SECTOR);

  expect(await disk.stat('/file')).toEqual({ bytes: 10 * SECTOR, allocatedBytes: SECTOR });
  machine.disk.capacityBytes = SECTOR;
  const file = await disk.open('/file', 'durable');
  await expect(writeAt(file, 'x', 5 * SECTOR)).rejects.toMatchObject({ code: 'ENOSPC' });
});

test('room comes back when a file is cut, removed or replaced', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  for (const path of ['/a', '/b', '/c']) await write(disk, path, 'x'.repeat(4 * SECTOR));

  await disk.truncate('/a', SECTOR);
  expect(machine.disk.usedBytes).toBe(9 * SECTOR);
  await disk.remove('/b');
  expect(machine.disk.usedBytes).toBe(5 * SECTOR);
  await disk.rename('/a', '/c');
  expect(machine.disk.usedBytes).toBe(SECTOR);
});

test('a removed file keeps its room until nobody has it open', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await write(disk, '/file', 'x'.repeat(SECTOR));
  const file = await disk.open('/file', 'read');

  await disk.remove('/file');
  expect(machine.disk.usedBytes).toBe(SECTOR);
  await file.close();

  expect(machine.disk.usedBytes).toBe(0);
});

test('what a crash brings back has its room again', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  const file = await disk.open('/file', 'create');
  await writeAt(file, 'x'.repeat(3 * SECTOR), 0);
  await file.sync();
  await disk.syncFolder('/');

  machine.disk.crash();

  const { bytes, allocatedBytes } = await machine.boot().stat('/file');
  expect([bytes, allocatedBytes]).toEqual([3 * SECTOR, 3 * SECTOR]);
});
