import { expect, test } from 'vitest';
import { ADMISSION_BOUNDS, type AdmissionBounds, type AdmissionClass } from './admission.ts';
import { TestEngine } from './testing/test-engine.ts';
import { settle, watch } from './testing/watched-answer.ts';

/** In the order in which they are refused when the disk falls behind. */
const CLASSES: readonly AdmissionClass[] = ['read', 'submit', 'lease', 'operate', 'report'];

/** The n-th class gets n times the limits of the first. */
function boundsOf(first: { bytesMax: number; answersMax: number }): AdmissionBounds {
  const entries = CLASSES.map((name, index) => {
    const times = index + 1;
    return [name, { bytesMax: first.bytesMax * times, answersMax: first.answersMax * times }];
  });
  return Object.fromEntries(entries) as unknown as AdmissionBounds;
}

function refused({ engine }: TestEngine): AdmissionClass[] {
  return CLASSES.filter((name) => !engine.admits(name));
}

/** The refused classes, at each change. */
async function refusedWhile(test: TestEngine, act: () => unknown): Promise<AdmissionClass[][]> {
  const seen: AdmissionClass[][] = [refused(test)];
  for (let round = 0; round < 90; round++) {
    act();
    const now = refused(test);
    if (now.length !== seen.at(-1)?.length) seen.push(now);
  }
  return seen;
}

const IN_ORDER = CLASSES.map((_, index) => CLASSES.slice(0, index + 1));

test('the bounds in use grow in the order of the classes', () => {
  const bytes = CLASSES.map((name) => ADMISSION_BOUNDS[name].bytesMax);
  const answers = CLASSES.map((name) => ADMISSION_BOUNDS[name].answersMax);

  expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
  expect(answers).toEqual(answers.toSorted((a, b) => a - b));
  expect(new Set(bytes).size).toBe(CLASSES.length);
});

test('as events wait for a disk that hangs, reads are refused first, reports last', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 200, answersMax: 1000 }),
  });
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();

  const seen = await refusedWhile(test, () => void test.submit('more'));

  expect(seen).toEqual([[], ...IN_ORDER]);
});

test('as answers wait for a disk that hangs, the order is the same', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 1000, answersMax: 10 }),
  });
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();

  const seen = await refusedWhile(test, () => void test.count());

  expect(seen).toEqual([[], ...IN_ORDER]);
});

test('everything is admitted again when the disk has caught up', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 200, answersMax: 10 }),
  });
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  const answers = Array.from({ length: 80 }, () => watch(test.submit('more')));
  const before = refused(test);

  test.faults.letGo();
  await settle();

  expect(before).toEqual(CLASSES);
  expect(refused(test)).toEqual([]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['answered']));
});

test('a disk that keeps up is never behind, whatever is asked of it', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 200, answersMax: 4 }),
  });

  for (let round = 0; round < 50; round++) {
    expect(refused(test)).toEqual([]);
    await Promise.all([test.submit('more'), test.count()]);
  }
});

test('leases wait while the disk is far behind; none is lost (engine.no-new-work)', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 100, answersMax: 1000 }),
  });
  await test.attach('s', 50);
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  while (test.engine.admits('lease')) void test.submit('2');
  const before = test.outputs.all.length;
  const behind = Array.from({ length: 5 }, () => test.submit('3'));

  expect(test.outputs.all).toHaveLength(before);
  test.faults.letGo();
  await Promise.all(behind);
  await settle();

  const count = await test.count();
  expect(count).toBeGreaterThan(before);
  expect(test.outputs.released).toHaveLength(count + 1);
  expect(await test.leasesOf('s')).toHaveLength(count);
});

test('a report that makes room while the disk is far behind is followed up later', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 100, answersMax: 1000 }),
  });
  await test.attach('s', 1);
  await Promise.all([test.submit('1'), test.submit('2')]);
  const [lease] = await test.leasesOf('s');
  test.faults.hold();
  void test.submitDelayed(1_000_000);
  await test.faults.whenHeld();
  while (test.engine.admits('lease')) void test.submitDelayed(1_000_000);

  const reported = test.report('s', { lease, kind: 'succeeded' });
  const pushesBehind = test.outputs.all.filter((line) => line.startsWith('push'));
  test.faults.letGo();
  await reported;
  await settle();

  expect(pushesBehind).toEqual(['push 1 to s']);
  expect(test.outputs.released).toContain('push 2 to s');
});

test('timers rest while the disk is far behind (engine.no-new-work)', async () => {
  const test = await TestEngine.start({
    admission: boundsOf({ bytesMax: 100, answersMax: 1000 }),
  });
  await test.submitDelayed(500);
  const before = test.timerMs;
  test.faults.hold();
  void test.submit('1');
  await test.faults.whenHeld();
  while (test.engine.admits('lease')) void test.submit('2');
  const behind = test.timerMs;

  test.faults.letGo();
  await settle();

  expect([before, behind]).toEqual([expect.any(Number), undefined]);
  expect(test.timerMs).toEqual(before);
});

test('a full disk has no leases granted, and a disk with room again has', async () => {
  const test = await TestEngine.start();
  await test.attach('s', 50);
  test.log.seemsFull = true;
  await test.submit('1');
  const whileFull = await test.leasesOf('s');
  test.log.seemsFull = false;

  await test.submitDelayed(500);

  expect(whileFull).toEqual([]);
  expect(await test.leasesOf('s')).toHaveLength(1);
});
