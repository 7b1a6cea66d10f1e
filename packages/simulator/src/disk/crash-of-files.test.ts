import { expect, test } from 'vitest';
import { outcomes, TestMachine, writeAt } from './testing/test-machine.ts';

const SECTOR = 512;
const OLD = 'o'.repeat(4 * SECTOR);
const NEW = 'n'.repeat(4 * SECTOR);

/** An open file with the old text. The text and the name of the file are on the disk. */
async function withFile(machine: TestMachine) {
  const disk = machine.boot();
  const file = await disk.open('/file', 'create');
  await writeAt(file, OLD, 0);
  await file.sync();
  await disk.syncFolder('/');
  return { disk, file, durable: await disk.open('/file', 'durable') };
}

/** One letter per sector; zeros are dots. */
function sectorsOf(machine: TestMachine): string {
  const text = machine.textOf('/file') ?? '(none)';
  return text.replaceAll('\0', '.').replace(/(.)\1{511}/g, '$1');
}

test('what was written is read at once, by whoever has the file open', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  const file = await disk.open('/file', 'create');
  const reader = await disk.open('/file', 'read');
  await writeAt(file, 'hello', 3);

  const target = new Uint8Array(20);

  expect(await reader.read(target, 0)).toBe(8);
  expect(await reader.read(target, 8)).toBe(0);
  expect(machine.textOf('/file')).toBe('\0\0\0hello');
});

test('of what was not synced a crash leaves nothing, all, the first or any sectors', async () => {
  const found = await outcomes(async (machine) => {
    const { file } = await withFile(machine);
    await writeAt(file, NEW, 0);
    machine.disk.crash();
    return sectorsOf(machine);
  }, 400);

  expect(found).toEqual(expect.arrayContaining(['oooo', 'nnnn', 'nooo', 'nnno', 'onon', 'ooon']));
  expect(found.filter((sectors) => !/^[on]{4}$/.test(sectors))).toEqual([]);
});

test('a file that grew has its old length after a crash, or a longer one, with gaps', async () => {
  const found = await outcomes(async (machine) => {
    const { file } = await withFile(machine);
    await writeAt(file, NEW, OLD.length);
    machine.disk.crash();
    return sectorsOf(machine);
  }, 400);

  expect(found).toEqual(
    expect.arrayContaining(['oooo', 'oooonnnn', 'oooo....', 'oooonn', 'oooo.n']),
  );
  expect(found.filter((sectors) => !/^oooo[n.]{0,4}$/.test(sectors))).toEqual([]);
});

test('what was synced survives every crash', async () => {
  const found = await outcomes(async (machine) => {
    const { file } = await withFile(machine);
    await writeAt(file, NEW, 2 * SECTOR);
    await file.sync();
    machine.disk.crash();
    return sectorsOf(machine);
  });

  expect(found).toEqual(['oonnnn']);
});

test('a durable write survives every crash, and takes no other bytes along', async () => {
  const found = await outcomes(async (machine) => {
    const { file, durable } = await withFile(machine);
    await writeAt(file, 'x'.repeat(SECTOR), 3 * SECTOR);
    await writeAt(durable, 'n'.repeat(SECTOR), 0);
    machine.disk.crash();
    return sectorsOf(machine);
  });

  expect(found).toEqual(['nooo', 'noox']);
});

test('a durable write that is under way in a crash is there, gone or torn', async () => {
  const found = await outcomes(async (machine) => {
    const { durable } = await withFile(machine);
    void writeAt(durable, NEW, 0);
    machine.disk.crash();
    return sectorsOf(machine);
  }, 400);

  expect(found).toEqual(expect.arrayContaining(['oooo', 'nnnn', 'nooo', 'onoo']));
  expect(found.filter((sectors) => !/^[on]{4}$/.test(sectors))).toEqual([]);
});

test('a file that was cut has the old or the new length after a crash', async () => {
  const found = await outcomes(async (machine) => {
    const { disk } = await withFile(machine);
    await disk.truncate('/file', SECTOR);
    machine.disk.crash();
    return `${(machine.textOf('/file') ?? '').length / SECTOR}`;
  });

  expect(found).toEqual(['1', '4']);
});

test('a file that was cut and synced gets neither its length nor its bytes back', async () => {
  const found = await outcomes(async (machine) => {
    const { disk, file } = await withFile(machine);
    await disk.truncate('/file', SECTOR);
    await disk.truncate('/file', 3 * SECTOR);
    await file.sync();
    machine.disk.crash();
    return sectorsOf(machine);
  });

  expect(found).toEqual(['o..']);
});

test('a sync after a failed one succeeds and restores nothing (sim-disk.failed-sync)', async () => {
  const found = await outcomes(async (machine) => {
    const { file } = await withFile(machine);
    await writeAt(file, NEW, 0);
    machine.disk.faults.failSync();
    await expect(file.sync()).rejects.toThrow('EIO');
    const seen = sectorsOf(machine);
    await file.sync();
    machine.disk.crash();
    return `${seen} then ${sectorsOf(machine)}`;
  }, 200);

  // The kernel keeps the pages as if they had been written, or drops them immediately.
  expect(found).toEqual(expect.arrayContaining(['nnnn then oooo', 'oooo then oooo']));
  expect(found).toEqual(expect.arrayContaining(['nnnn then nnnn', 'nnnn then nnoo']));
});

test('a failed durable write is lost despite a later sync (sim-disk.failed-sync)', async () => {
  const found = await outcomes(async (machine) => {
    const { durable } = await withFile(machine);
    machine.disk.faults.failWrite();
    await expect(writeAt(durable, NEW, 0)).rejects.toThrow('EIO');
    const seen = sectorsOf(machine);
    await durable.sync();
    machine.disk.crash();
    return `${seen} then ${sectorsOf(machine)}`;
  }, 200);

  expect(found).toEqual(expect.arrayContaining(['nnnn then oooo', 'oooo then oooo']));
  expect(found).toContain('nnnn then nnnn');
});

test('what failed to be written is on the disk once it is written again', async () => {
  const found = await outcomes(async (machine) => {
    const { durable } = await withFile(machine);
    machine.disk.faults.failWrite();
    await expect(writeAt(durable, NEW, 0)).rejects.toThrow('EIO');
    await writeAt(durable, NEW, 0);
    machine.disk.crash();
    return sectorsOf(machine);
  });

  expect(found).toEqual(['nnnn']);
});

test('a bit rots where it is told to, in what is seen and in what is kept', async () => {
  const machine = new TestMachine(3);
  await withFile(machine);

  machine.disk.flip('/file', 700);
  const flipped = machine.textOf('/file') ?? '';
  machine.disk.crash();

  const changed = [...flipped].flatMap((letter, at) => (letter === 'o' ? [] : [at]));
  expect(changed).toEqual([700]);
  expect(machine.textOf('/file')).toBe(flipped);
});

test('a bit rots in some file of a folder, if there is one', async () => {
  const machine = new TestMachine(3);
  expect(machine.disk.flipSomewhere('/')).toBeUndefined();
  await withFile(machine);

  const place = machine.disk.flipSomewhere('/');

  expect(place?.path).toBe('/file');
  expect((machine.textOf('/file') ?? '')[place?.offset ?? 0]).not.toBe('o');
});
