import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FailingWrites } from '../testing/failing-writes-fixture.ts';
import { readTexts } from '../testing/log-fixture.ts';
import { TempFolder } from '../testing/temp-folder-fixture.ts';

const PROGRAM = fileURLToPath(new URL('../testing/appending-process.ts', import.meta.url));

let folder: TempFolder;
let shim: FailingWrites;
beforeEach(async () => {
  folder = await TempFolder.create();
  shim = await FailingWrites.compile(folder.path);
});
afterEach(async () => {
  await folder.dispose();
});

/** Runs a program whose nth write to a segment fails. */
async function runWithFailingWrite(nth: number, args: readonly string[]) {
  const env = { ...process.env, ...shim.environment(nth) };
  const child = spawn(process.execPath, args, { env, stdio: 'pipe' });
  const [out, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const acknowledged = out.split('\n').filter((line) => /^\d+$/.test(line)).length;
  return { acknowledged, complaint, code, report: await shim.report() };
}

test.each([
  { nth: 1, write: 'the first header', acknowledged: 0 },
  { nth: 2, write: 'the first batch', acknowledged: 0 },
  { nth: 30, write: 'a later batch', acknowledged: 28 },
])('EIO from $write ends the process and loses nothing', async ({ nth, acknowledged }) => {
  const run = await runWithFailingWrite(nth, [PROGRAM, folder.logFolder]);

  expect(run.code).toBe(1);
  expect(run.complaint).toContain('LogFailedError');
  expect(run.complaint).toContain('EIO');
  expect(run.acknowledged).toBe(acknowledged);
  // The shim would have reported another write to the descriptor.
  expect(run.report).toBe('failed\n');
  const texts = await readTexts(await folder.open());
  expect(texts).toEqual(
    Array.from({ length: acknowledged }, (_, i) => `record ${i} `.repeat(1 + (i % 40))),
  );
});

test('a program that does write again after EIO is found out', async () => {
  const file = JSON.stringify(join(folder.path, 'file'));
  const program = `
    import { constants, openSync, writeSync } from 'node:fs';
    const { O_CREAT, O_DSYNC, O_WRONLY } = constants;
    const descriptor = openSync(${file}, O_CREAT | O_DSYNC | O_WRONLY);
    try { writeSync(descriptor, 'first', 0); } catch { writeSync(descriptor, 'again', 0); }`;

  const run = await runWithFailingWrite(1, ['--input-type=module', '--eval', program]);

  expect(run.code).toBe(0);
  expect(run.report).toBe('failed\nwritten again\n');
});
