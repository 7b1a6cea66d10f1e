import { expect, test } from 'vitest';
import { outcomes, type TestMachine, write } from './testing/test-machine.ts';

/** A folder with a synced file in it. All names are on the disk. */
async function withFolder(machine: TestMachine) {
  const disk = machine.boot();
  await disk.makeFolder('/folder');
  await disk.syncFolder('/');
  const file = await disk.open('/folder/a', 'create');
  await file.close();
  await disk.syncFolder('/folder');
  return disk;
}

function filesOf(machine: TestMachine): string {
  return machine.disk.files().join(' ');
}

test('a new file is gone or there after a crash, unless its folder was synced', async () => {
  const create = async (machine: TestMachine) => {
    const disk = await withFolder(machine);
    await write(disk, '/folder/b', 'text');
    return disk;
  };
  const unsynced = await outcomes(async (machine) => {
    await create(machine);
    machine.disk.crash();
    return filesOf(machine);
  });
  const synced = await outcomes(async (machine) => {
    await (await create(machine)).syncFolder('/folder');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(unsynced).toEqual(['/folder/a', '/folder/a /folder/b']);
  expect(synced).toEqual(['/folder/a /folder/b']);
});

test('a synced file without a synced name is gone with its bytes', async () => {
  const found = await outcomes(async (machine) => {
    const disk = await withFolder(machine);
    const file = await disk.open('/folder/b', 'create');
    await file.sync();
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(found).toContain('/folder/a');
});

test('a renamed file has its old or its new name after a crash, never both or none', async () => {
  const rename = async (machine: TestMachine) => {
    const disk = await withFolder(machine);
    await disk.rename('/folder/a', '/folder/b');
    return disk;
  };
  const unsynced = await outcomes(async (machine) => {
    await rename(machine);
    machine.disk.crash();
    return filesOf(machine);
  });
  const synced = await outcomes(async (machine) => {
    await (await rename(machine)).syncFolder('/folder');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(unsynced).toEqual(['/folder/a', '/folder/b']);
  expect(synced).toEqual(['/folder/b']);
});

test('a removed file may come back, unless its folder was synced', async () => {
  const remove = async (machine: TestMachine) => {
    const disk = await withFolder(machine);
    await disk.remove('/folder/a');
    return disk;
  };
  const unsynced = await outcomes(async (machine) => {
    await remove(machine);
    machine.disk.crash();
    return filesOf(machine);
  });
  const synced = await outcomes(async (machine) => {
    await (await remove(machine)).syncFolder('/folder');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(unsynced).toEqual(['', '/folder/a']);
  expect(synced).toEqual(['']);
});

test('what is written under a new name shows under the old one if that comes back', async () => {
  const found = await outcomes(async (machine) => {
    const disk = await withFolder(machine);
    await disk.rename('/folder/a', '/folder/b');
    const file = await disk.open('/folder/b', 'durable');
    await new Promise((resolve) => {
      file.write(new Uint8Array([104, 105]), { offset: 0, length: 2, position: 0 }, resolve);
    });
    machine.disk.crash();
    return `${filesOf(machine)}: ${machine.textOf(filesOf(machine))}`;
  });

  expect(found).toEqual(['/folder/a: hi', '/folder/b: hi']);
});

test('changes of names survive in part, also the later ones alone', async () => {
  const found = await outcomes(async (machine) => {
    const disk = await withFolder(machine);
    await write(disk, '/folder/b', '');
    await write(disk, '/folder/c', '');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(found).toEqual([
    '/folder/a',
    '/folder/a /folder/b',
    '/folder/a /folder/b /folder/c',
    '/folder/a /folder/c',
  ]);
});

test('a folder that is not on the disk takes along what was synced in it', async () => {
  const found = await outcomes(async (machine) => {
    const disk = machine.boot();
    await disk.makeFolder('/new');
    await write(disk, '/new/a', 'text');
    await disk.syncFolder('/new');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(found).toEqual(['', '/new/a']);
});

test('a folder whose sync fails has its changes still to be synced', async () => {
  const found = await outcomes(async (machine) => {
    const disk = await withFolder(machine);
    await write(disk, '/folder/b', '');
    machine.disk.faults.failSync();
    await expect(disk.syncFolder('/folder')).rejects.toThrow('EIO');
    await disk.syncFolder('/folder');
    machine.disk.crash();
    return filesOf(machine);
  });

  expect(found).toEqual(['/folder/a /folder/b']);
});
