import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice, SluiceError } from '@sluice/sdk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const MIB = 1024 * 1024;

/** With its quotes, it has the maximum size of a blob. */
const LARGEST = 64 * MIB - 2;

let folder: string;
let server: ServerProcess;
let sluice: Sluice;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
});

afterEach(async () => {
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

const reversed = defineTask({
  type: 'reversed',
  run: (text: string) => ({ last: text.at(-1), text: text.slice(0, -20) }),
});

test('the largest input and output there may be travel unasked, both ways', async () => {
  await sluice.work([reversed], { handleSignals: false });
  const input = 'ab'.repeat(LARGEST / 2);

  const task = await sluice.submit(reversed, input);
  const { last, text } = await task.result();

  expect([last, text.length]).toEqual(['b', input.length - 20]);
  expect(await task.get()).toMatchObject({
    inputBlob: expect.stringMatching(/^[0-9a-f]{64}$/),
    outputBlob: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('many at once, small and large, come back to whom they belong', async () => {
  const echo = defineTask({ type: 'echo', run: (input: { n: number; text: string }) => input });
  await sluice.work([echo], { handleSignals: false });
  const inputs = Array.from({ length: 40 }, (_, n) => ({ n, text: 'ä'.repeat((n % 4) * 200_000) }));

  const tasks = await sluice.submitMany(echo, inputs);
  const outputs = await Promise.all(tasks.map((task) => task.result()));

  expect(outputs.map(({ n, text }) => [n, text.length])).toEqual(
    inputs.map(({ n, text }) => [n, text.length]),
  );
});

test('what is larger is refused by name, and a handler that returns it has failed', async () => {
  const big = defineTask({ type: 'big', run: () => 'x'.repeat(LARGEST + 1) });
  await sluice.work([big], { handleSignals: false });

  const refused = await sluice.submit(big, 'x'.repeat(LARGEST + 1)).catch((cause) => cause);
  const failed = await (await sluice.submit(big, null)).wait();

  expect(refused).toBeInstanceOf(SluiceError);
  expect(refused).toMatchObject({ code: 'payload_too_large', details: [{ path: '/input' }] });
  expect(failed).toMatchObject({
    state: 'failed',
    attempt: 1,
    error: { code: 'output_too_large' },
  });
});

test('an input that is gone from the disk fails its task for good, by name', async () => {
  const task = await sluice.submit(reversed, 'x'.repeat(MIB));
  const [part] = await readdir(join(folder, 'blobs', '@default'));
  await rm(join(folder, 'blobs', '@default', part), { recursive: true });
  const { inputBlob } = await task.get();

  await sluice.work([reversed], { handleSignals: false });

  const ended = await task.wait();
  expect(ended).toMatchObject({ state: 'failed', attempt: 1, error: { code: 'blob_not_found' } });
  expect(ended.error?.message).toContain(inputBlob);
});

test('a server that is killed while an input arrives gets it the next time', async () => {
  const unfinished = join(folder, 'blobs', '.unfinished');
  const submitted = sluice.submit(reversed, 'x'.repeat(LARGEST));
  await waitUntil(async () => (await readdir(unfinished)).length > 0, {
    what: 'the upload has begun',
    timeoutMs: 60_000,
  });

  const { port } = new URL(server.url);
  await server.kill();
  expect(await readdir(unfinished)).toHaveLength(1);
  server = await ServerProcess.startDev(folder, {}, port);
  await sluice.work([reversed], { handleSignals: false });

  const task = await submitted;
  expect((await task.result()).text).toHaveLength(LARGEST - 20);
  expect(await readdir(unfinished)).toEqual([]);
});
