import { expect, test } from 'vitest';
import { ADMISSION_BOUNDS, type AdmissionBounds, type AdmissionClass } from './admission.ts';
import { TestEngine } from './testing/test-engine.ts';
import { settle, watch } from './testing/watched-answer.ts';

/** In the order in which they are refused when the disk falls behind. */
const CLASSES: readonly AdmissionClass[] = ['read', 'submit', 'lease', 'operate', 'report'];

/** Each class may have so many times what the first one may. */
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

/** What is refused, each time that it changed. */
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
