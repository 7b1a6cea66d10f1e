import { MemorySnapshots, type StoredSnapshot } from '@sluice/log';
import { beforeEach, expect, test } from 'vitest';
import { RecoveryError } from './recovery.ts';
import { TestEngine, type TestEngineOptions } from './testing/test-engine.ts';
import { settle } from './testing/watched-answer.ts';

let snapshots: MemorySnapshots;

beforeEach(() => {
  snapshots = new MemorySnapshots();
});

test('the log is folded after so many bytes, one fold at a time', async () => {
  const test = await TestEngine.start({ snapshots, everyBytes: 100 });

  await test.submit('a'.repeat(60));
  expect(test.folds.started).toEqual([]);
  await test.submit('b'.repeat(60));
  await test.submit('c'.repeat(200));
  await test.submit('d'.repeat(200));
  expect(test.folds.started).toEqual([2]);

  await fold(test);
  await test.submit('e');
  expect(test.folds.started).toEqual([2, 5]);
  expect(await snapshots.positions()).toEqual([2]);
});

test('a restart from a snapshot and the log behind it gives the same tasks', async () => {
  const before = await workedEngine();
  await fold(before);
  await before.submit('"behind"');
  const tasks = await before.tasks();
  const reads: number[] = [];

  const after = await restart(before, (test) => {
    const { read } = test.faults;
    test.faults.read = (from, onBatch) => {
      reads.push(from);
      return read.call(test.faults, from, onBatch);
    };
  });

  expect(await after.tasks()).toEqual(tasks);
  expect(await after.leasesOf('s')).toEqual(await before.leasesOf('s'));
  expect(reads).toEqual([before.folds.started[0]]);
  const behind = before.log.appends.filter(({ expectedTail }) => expectedTail >= reads[0]);
  expect(after.recovered).toEqual({
    type: 'recovered',
    snapshot: reads[0],
    tail: reads[0] + behind.reduce((sum, { recordCount }) => sum + recordCount, 0),
    replayedBytes: behind.reduce((sum, { bytes }) => sum + bytes.length, 0),
  });
});

test('a start says which limit is too low for what is stored', async () => {
  const before = await workedEngine();
  const { store, now } = before;
  const problem = 'the stored data does not fit into tasksMax (3); raise that limit again';

  await expect(TestEngine.start({ store, now, tasksMax: 3 })).rejects.toThrow(problem);
  await fold(before);
  await expect(TestEngine.start({ store, now, tasksMax: 3, snapshots })).rejects.toThrow(problem);
});

test('a limit that is too low is said also when some of the stored slots are free', async () => {
  const options = { snapshots, finishedTasksMax: 0 };
  const before = await TestEngine.start(options);
  await before.submit('1', '2', '3', '4', '5');
  await before.attach('s', 4);
  const leases = await before.leasesOf('s');
  await before.report('s', ...leases.map((lease) => ({ lease, kind: 'succeeded' as const })));
  for (const input of ['6', '7', '8']) {
    await before.submit(input);
    await fold(before);
  }
  expect(await before.count()).toBe(4);
  const { store, now } = before;

  const start = TestEngine.start({ ...options, store, now, tasksMax: 4 });

  await expect(start).rejects.toThrow('does not fit into tasksMax (4)');
});

test('the live engine answers while a fold is under way', async () => {
  const test = await workedEngine();

  expect(test.folds.started).toHaveLength(1);
  expect(await test.submit('"meanwhile"')).toMatch('submitted');
});

test('the log is trimmed behind the older of two snapshots', async () => {
  const test = await TestEngine.start({ snapshots });
  for (const input of ['1', '2', '3']) {
    await test.submit(input);
    await fold(test);
  }

  const hold = await test.faults.acquire();
  const trims = test.notices.filter((notice) => notice.type === 'log_trimmed');

  expect(await snapshots.positions()).toEqual([3, 2]);
  expect(hold).toMatchObject({ first: 2, tail: 3 });
  expect(trims).toEqual([
    { type: 'log_trimmed', upTo: 1 },
    { type: 'log_trimmed', upTo: 2 },
  ]);
});

test('a damaged newest snapshot gives way to the older one, and that is said', async () => {
  const before = await trimmedEngine();
  const tasks = await before.tasks();
  snapshots.replace(3, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));

  const after = await restart(before);

  expect(await after.tasks()).toEqual(tasks);
  expect(after.notices).toMatchObject([{ type: 'snapshot_unusable', position: 3 }]);
});

test('a damaged snapshot does not count as one of the two that are kept', async () => {
  const before = await trimmedEngine();
  snapshots.replace(3, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));
  const after = await restart(before);
  await after.submit('x'.repeat(200));
  const tasks = await after.tasks();
  await fold(after);
  const [newest] = await snapshots.positions();
  snapshots.replace(newest, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));

  const last = await restart(after);

  expect(await last.tasks()).toEqual(tasks);
  expect(last.notices).toMatchObject([{ type: 'snapshot_unusable', position: newest }]);
});

test('a damaged snapshot gives way to the older one also when all slots are taken', async () => {
  const before = await trimmedEngine({ tasksMax: 3 });
  expect(await before.submit('4')).toBe('refused: too_many_tasks');
  const { store, now } = before;
  const tasks = await before.tasks();
  snapshots.replace(3, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));

  const after = await TestEngine.start({ store, now, snapshots, tasksMax: 3 });

  expect(await after.tasks()).toEqual(tasks);
  expect(after.notices).toMatchObject([{ type: 'snapshot_unusable', position: 3 }]);
});

test('a snapshot of another schema gives way to the older one too', async () => {
  const before = await trimmedEngine();
  snapshots.replace(3, (snapshot) => ({ ...snapshot, schema: 9 }));

  const after = await restart(before);

  expect(await after.count()).toBe(3);
  expect(after.notices).toMatchObject([{ type: 'snapshot_unusable', position: 3 }]);
});

test('without a usable snapshot the whole log is replayed while it is there', async () => {
  const before = await TestEngine.start({ snapshots });
  await before.submit('1');
  await fold(before);
  snapshots.replace(1, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));

  const after = await restart(before);

  expect(await after.count()).toBe(1);
});

test('a trimmed log with snapshots of another version says which version can start', async () => {
  const before = await trimmedEngine();
  for (const position of [3, 2]) {
    snapshots.replace(position, (snapshot) => ({ ...snapshot, schema: 99 }));
  }
  const { store, now } = before;
  const extent = { first: 2, tail: before.engine.position };

  const start = TestEngine.start({ store, now, snapshots, extent });

  await expect(start).rejects.toThrow(RecoveryError);
  const finding = 'its schema is 99, and this version of Sluice knows 3 to 5';
  await expect(start).rejects.toThrow(
    `the log begins with record 2, and no snapshot of the records before it can be loaded ` +
      `(snapshot 3: ${finding}; snapshot 2: ${finding}); another version of Sluice saved them, ` +
      'and that version can start on this folder',
  );
  // The log was not acquired: its holder goes on.
  expect(await before.submit('"more"')).toContain('submitted');
});

test('a trimmed log without a usable snapshot is refused, with the positions', async () => {
  const before = await trimmedEngine();
  for (const position of [3, 2]) {
    snapshots.replace(position, (snapshot) => ({ ...snapshot, pieces: torn(snapshot) }));
  }

  const start = restart(before);

  await expect(start).rejects.toThrow(RecoveryError);
  await expect(start).rejects.toThrow(
    /begins with record 2, .* \(snapshot 3: .*; snapshot 2: .*\); restore the snapshots/,
  );
});

test('a trimmed log without its snapshots is refused', async () => {
  const before = await trimmedEngine();
  const { store, now } = before;

  const start = TestEngine.start({ store, now, snapshots: new MemorySnapshots() });

  await expect(start).rejects.toThrow(/begins with record 2, .* was found; restore/);
});

test('a snapshot that the log has not reached is refused: records are missing', async () => {
  await trimmedEngine();

  const start = TestEngine.start({ snapshots });

  await expect(start).rejects.toThrow(/up to 3, but the log ends at 0/);
});

test('a state that is not what its snapshot says stops the start', async () => {
  const before = await trimmedEngine();
  snapshots.replace(3, (snapshot) => ({ ...snapshot, hash: snapshot.hash + 1 }));

  await expect(restart(before)).rejects.toThrow(/the snapshot says/);
  const { store, now } = before;
  const full = TestEngine.start({ store, now, snapshots, tasksMax: 3 });
  await expect(full).rejects.toThrow(/the snapshot says/);
});

test('a fold that leads to another state stops the engine loudly (L3)', async () => {
  const test = await TestEngine.start({ snapshots });
  await test.submit('1');
  await fold(test);
  snapshots.replace(1, (snapshot) => ({ ...snapshot, hash: snapshot.hash + 1 }));

  await test.submit('2');
  await fold(test);

  expect(test.stops).toHaveLength(1);
  expect(String(test.stops[0])).toMatch('StateHashError');
  await expect(test.submit('3')).rejects.toThrow('lost its partition');
});

test('a fold that fails is said and tried again, and the engine goes on', async () => {
  const test = await TestEngine.start({ snapshots });
  snapshots.save = () => Promise.reject(new Error('the disk is full'));
  await test.submit('1');
  await fold(test);

  expect(test.notices).toMatchObject([{ type: 'fold_failed' }]);
  expect(test.stops).toEqual([]);
  await test.submit('2');
  expect(test.folds.started).toEqual([1, 2]);
});

test('closing ends a fold that is under way', async () => {
  const test = await TestEngine.start({ snapshots });
  await test.submit('1');

  await test.engine.close();

  expect(test.folds.cancelled).toBe(1);
  expect(await snapshots.positions()).toEqual([]);
});

test('a start with much log behind the snapshot folds at once', async () => {
  const before = await TestEngine.start({ snapshots, everyBytes: 1_000_000 });
  await before.submit('x'.repeat(200));

  const after = await restart(before);

  expect(after.folds.started).toEqual([1]);
});

/** Six tasks: some ended, two leased to `s`, some waiting; a fold has been started. */
async function workedEngine(): Promise<TestEngine> {
  const test = await TestEngine.start({ snapshots, everyBytes: 100 });
  await test.attach('s', 2);
  await Promise.all(['"a"', '', '"ünï"', '4', '5', '6'].map((input) => test.submit(input)));
  const [first, second] = await test.leasesOf('s');
  await test.report('s', { lease: first, kind: 'started' }, { lease: second, kind: 'failed' });
  test.now += 10;
  await test.report('s', { lease: first, kind: 'succeeded' });
  return test;
}

/** Three tasks, a snapshot after each, and the log without its first records. */
async function trimmedEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const test = await TestEngine.start({ snapshots, ...options });
  for (const input of ['1', '2', '3']) {
    await test.submit(input);
    await fold(test);
  }
  return test;
}

async function fold(test: TestEngine): Promise<void> {
  await test.folds.run();
  await settle();
}

function restart(
  { store, now }: TestEngine,
  prepare?: (test: TestEngine) => void,
): Promise<TestEngine> {
  return TestEngine.start({
    store,
    now,
    snapshots,
    everyBytes: 100,
    ...(prepare === undefined ? {} : { prepare }),
  });
}

function torn({ pieces }: StoredSnapshot): Uint8Array[] {
  const [first] = pieces;
  return [first.subarray(0, first.length / 2)];
}
