import { copyFile, mkdir, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendTexts, LONELY_TEXTS, readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';
import { FileLog, type HeldFiles } from './file-log.ts';

const TAIL = LONELY_TEXTS.length;

let folder: TempFolder;
let log: FileLog;
let epoch: number;

beforeEach(async () => {
  folder = await TempFolder.create();
  log = await folder.open();
  ({ epoch } = await appendTexts(log, await log.acquire(), LONELY_TEXTS));
});
afterEach(async () => {
  await log.close();
  await folder.dispose();
});

/** Opens a copy of the committed files in a new folder. */
async function copied(held: HeldFiles): Promise<FileLog> {
  const target = join(folder.path, 'copy');
  await mkdir(target);
  for (const { path, bytes } of held.committed()) {
    await copyFile(path, join(target, basename(path)));
    await truncate(join(target, basename(path)), bytes);
  }
  return FileLog.open({ folder: target });
}

test('while files are held a trim removes none, and the next one takes them along', async () => {
  const held = log.hold();
  const before = await folder.segments();

  const outcome = await log.trim({ epoch, upTo: TAIL });
  const kept = await folder.segments();
  held.release();
  await log.trim({ epoch, upTo: TAIL });

  expect(outcome).toBe('ok');
  expect(kept).toEqual(before);
  expect(await folder.segments()).toEqual(before.slice(-1));
});

test('two who hold are told apart', async () => {
  const [first, second] = [log.hold(), log.hold()];
  const before = await folder.segments();

  first.release();
  first.release();
  await log.trim({ epoch, upTo: TAIL });

  expect(await folder.segments()).toEqual(before);
  second.release();
});

test('what is committed of held files is a log, however much came since', async () => {
  const held = log.hold();
  const copy = await copied(held);
  await appendTexts(log, { epoch, tail: TAIL }, ['later']);

  expect(await readTexts(copy, 0)).toEqual(LONELY_TEXTS);
  expect(await readTexts(log, 0)).toEqual([...LONELY_TEXTS, 'later']);
  await copy.close();
  held.release();
});

test('a log that was trimmed and written to since a hold began is copied whole', async () => {
  await log.trim({ epoch, upTo: 3 });
  const held = log.hold();
  await appendTexts(log, { epoch, tail: TAIL }, ['later']);

  const copy = await copied(held);

  expect(await readTexts(copy, 3)).toEqual([...LONELY_TEXTS.slice(3), 'later']);
  await copy.close();
  held.release();
});
