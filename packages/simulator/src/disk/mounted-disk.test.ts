import type { FolderLock } from '@sluice/log';
import { expect, test } from 'vitest';
import { ProcessKilledError } from './disk-error.ts';
import { outcomes, TestMachine, write, writeAt } from './testing/test-machine.ts';

const SECTOR = 512;

test('a process that is killed leaves what it wrote, synced or not', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await write(disk, '/file', 'text');

  disk.kill();

  expect(machine.textOf('/file')).toBe('text');
});

test('nothing answers a process that is dead (sim-disk.killed-operation)', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  const heard: string[] = [];
  void disk.makeFolder('/folder').finally(() => heard.push('makeFolder'));

  disk.kill();
  void disk.list('/').finally(() => heard.push('list'));
  await write(machine.boot(), '/later', '');

  expect(heard).toEqual([]);
  expect(() => disk.openSync('/file', 'create')).toThrow(ProcessKilledError);
});

test('what is under way when a process is killed happens, or not, or in part', async () => {
  const names = await outcomes(async (machine) => {
    const disk = machine.boot();
    void disk.makeFolder('/folder');
    void write(disk, '/file', '');
    disk.kill();
    return (await machine.boot().list('/')).toSorted().join(' ');
  });
  const bytes = await outcomes(async (machine) => {
    const disk = machine.boot();
    const file = await disk.open('/file', 'create');
    void writeAt(file, 'x'.repeat(3 * SECTOR), 100);
    disk.kill();
    return String(machine.textOf('/file')?.length);
  }, 200);

  expect(names).toEqual(['', 'file', 'file folder', 'folder']);
  expect(bytes).toEqual(['0', '1024', '1536', '1636', '512'].toSorted());
});

test('the lock of a folder belongs to one process and dies with it', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await disk.makeFolder('/folder');
  await disk.lock('/folder');

  const rival = machine.boot();
  expect(await rival.lock('/folder')).toEqual({ holder: 'another process' });
  disk.kill();
  const lock = (await rival.lock('/folder')) as FolderLock;

  expect(lock).toHaveProperty('release');
  await lock.release();
  expect(await machine.boot().lock('/folder')).toHaveProperty('release');
});

test('every operation takes its time, a sync as much more as it is told to', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  const { simulation } = machine.time;
  const start = simulation.now;
  const file = await disk.open('/file', 'create');
  const opened = simulation.now;

  machine.disk.faults.syncDelayMs = 5000;
  await file.sync();
  const synced = simulation.now;
  await writeAt(await disk.open('/file', 'durable'), 'x', 0);
  const written = simulation.now;
  machine.disk.faults.syncDelayMs = 0;
  await file.sync();

  expect(opened - start).toBeGreaterThanOrEqual(0.05);
  expect(opened - start).toBeLessThan(0.3);
  expect(synced - opened).toBeGreaterThanOrEqual(5000);
  expect(written - synced).toBeGreaterThanOrEqual(5000);
  expect(simulation.now - written).toBeLessThan(1);
});

test('operations are seen before they begin, and one that kills does not begin', async () => {
  const machine = new TestMachine(1);
  const seen: string[] = [];
  const disk = machine.boot({
    observe: (operation, path) => {
      seen.push(`${operation} ${path}`);
      if (path === '/c') disk.kill();
    },
  });

  const file = await disk.open('/a', 'create');
  await file.close();
  await disk.rename('/a', '/b');
  disk.openSync('/b', 'read').close();
  expect(() => disk.openSync('/c', 'create')).toThrow(ProcessKilledError);

  expect(seen).toEqual([
    'open to create /a',
    'close /a',
    'rename /a',
    'open to read /b',
    'open to create /c',
  ]);
  expect(machine.disk.files()).toEqual(['/b']);
});

test('what is not there is ENOENT, what is there already EEXIST', async () => {
  const disk = new TestMachine(1).boot();
  await disk.makeFolder('/folder');

  const answers = await Promise.allSettled([
    disk.stat('/none'),
    disk.open('/none', 'read'),
    disk.open('/none', 'durable'),
    disk.open('/none/file', 'create'),
    disk.rename('/none', '/some'),
    disk.remove('/none'),
    disk.truncate('/none', 1),
    disk.syncFolder('/none'),
    disk.list('/none'),
  ]);

  expect(answers).toEqual(
    answers.map(() => ({
      status: 'rejected',
      reason: expect.objectContaining({ code: 'ENOENT' }),
    })),
  );
  await expect(disk.makeFolder('/folder')).rejects.toMatchObject({ code: 'EEXIST' });
});

test('the nth write and the nth sync below a folder fail, and no other', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  await disk.makeFolder('/folder');
  const outside = await disk.open('/file', 'create');
  const inside = await disk.open('/folder/file', 'create');
  machine.disk.faults.failWrite({ after: 1, under: '/folder' });
  machine.disk.faults.failSync({ after: 1, under: '/folder' });

  for (let round = 0; round < 3; round++) {
    await writeAt(outside, 'x', 0);
    await outside.sync();
  }
  await writeAt(inside, 'x', 0);
  await expect(writeAt(inside, 'x', 0)).rejects.toMatchObject({ code: 'EIO' });
  await writeAt(inside, 'x', 0);
  await inside.sync();
  await expect(disk.syncFolder('/folder')).rejects.toMatchObject({ code: 'EIO' });
  await disk.syncFolder('/folder');
});

test('a short write writes a part and says so', async () => {
  const machine = new TestMachine(1);
  const disk = machine.boot();
  const file = await disk.open('/file', 'create');
  machine.disk.faults.shortWrites = 1;

  const written = await writeAt(file, 'a longer text', 0);

  expect(written).toBeLessThan(13);
  expect(machine.textOf('/file')).toBe('a longer text'.slice(0, written));
  expect(await writeAt(file, 'a longer text', 0)).toBe(13);
});

test('files that are used without waiting behave like the others', async () => {
  const found = await outcomes(async (machine) => {
    const disk = machine.boot();
    const file = disk.openSync('/file', 'create');
    file.write(new TextEncoder().encode('kept'));
    file.sync();
    await disk.syncFolder('/');
    file.write(new TextEncoder().encode(' lost'));
    machine.disk.crash();
    return machine.textOf('/file')?.replaceAll('\0', '.') ?? '';
  });

  expect(found).toEqual(['kept', 'kept lost', 'kept.....']);
});

test('the same seed and calls leave the same bytes', async () => {
  const story = async (seed: number) => {
    const machine = new TestMachine(seed);
    for (let life = 0; life < 3; life++) {
      const disk = machine.boot();
      const file = await disk.open(`/${life}`, 'create');
      await writeAt(file, 'abcd'.repeat(1000), 0);
      if (life === 1) await disk.syncFolder('/');
      void writeAt(file, 'efgh'.repeat(1000), 100);
      machine.disk.crash();
    }
    const { simulation } = machine.time;
    return [simulation.now, ...machine.disk.files().map((path) => machine.textOf(path))];
  };

  expect(await story(5)).toEqual(await story(5));
  expect(await story(5)).not.toEqual(await story(6));
});
