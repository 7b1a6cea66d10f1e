import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestSluice } from '@sluice/sdk/testing';
import { expect, test, vi } from 'vitest';
import { melody } from './melody.ts';
import { drawSvg, findPeaks } from './picture.ts';
import { encodeWav, readSamples, SAMPLE_RATE } from './wav.ts';

test('what is written as a WAV file is read again, from any place', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-wave-'));
  const samples = Int16Array.from({ length: 1000 }, (_, n) => (n % 2 === 0 ? n : -n));
  const path = join(folder, 'a.wav');
  await writeFile(path, encodeWav(samples));

  expect(await readSamples(path, 10, 20)).toEqual(samples.slice(10, 20));
  expect((await readFile(path)).toString('latin1', 0, 4)).toBe('RIFF');
  await expect(readSamples(path, 990, 1010)).rejects.toThrow('shorter');
  await rm(folder, { recursive: true });
});

test('a tune has sound in it, the same for the same seed, and never too loud', () => {
  const tune = melody(2, 7);

  expect(tune).toHaveLength(2 * SAMPLE_RATE);
  expect(tune).toEqual(melody(2, 7));
  expect(tune).not.toEqual(melody(2, 8));
  expect(Math.max(...tune.map(Math.abs))).toBeGreaterThan(1000);
});

test('peaks are the lowest and the highest of each column', () => {
  const samples = Int16Array.of(0, 16_384, -16_384, 0, 8192, 0);
  expect(findPeaks(samples, 2)).toEqual([
    [-0.5, 0.5],
    [0, 0.25],
  ]);
});

test('a picture has a path per piece', () => {
  const svg = drawSvg([[[-0.5, 0.5]], [[0, 0.25]]]);
  expect(svg.match(/<path/g)).toHaveLength(2);
  expect(svg).toContain('M300.0 75.0V225.0');
});

test.each([
  [2, 16],
  [121, 64],
])('the workflow draws %d s of sound in %d pieces', async (seconds, count) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-wave-'));
  vi.stubEnv('WAVEFORM_FOLDER', folder);
  vi.resetModules();
  const { waveform } = await import('./waveform.ts');
  const { draw, peaks, record, split } = await import('./tasks.ts');
  const run = await new TestSluice([draw, peaks, record, split]).start(waveform, { seconds });

  const { picture, pieces } = await run.result();

  expect(pieces).toBe(count);
  expect((await readFile(picture, 'utf8')).match(/<path/g)).toHaveLength(count);
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});
