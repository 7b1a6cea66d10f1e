import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTask, PermanentFailure } from '@sluice/sdk';
import { melody } from './melody.ts';
import { drawSvg, findPeaks, type Peaks } from './picture.ts';
import { encodeWav, readSamples, SAMPLE_RATE } from './wav.ts';

/** Where the sounds and pictures go. */
const FOLDER = process.env.WAVEFORM_FOLDER ?? join(import.meta.dirname, 'out');

const COLUMNS = 800;

/** A part of a sound. */
interface Piece {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly columns: number;
}

/**
 * Makes a tune. When its worker is lost it runs again and writes the same file, because the name
 * comes from the run.
 */
export const record = defineTask({
  type: 'waveform.record',
  timeouts: { runMs: 600_000 },
  async run({ run, seconds, seed }: { run: string; seconds: number; seed: number }, { log }) {
    if (!(seconds > 0 && seconds <= 600)) throw new PermanentFailure('seconds: 0 to 600');
    const file = join(FOLDER, `${run}.wav`);
    const samples = melody(seconds, seed);
    await writeWhole(file, encodeWav(samples));
    log(`${seconds} s of sound, ${SAMPLE_RATE} samples a second`);
    return { file, samples: samples.length };
  },
});

/** Says which pieces there are. Each of them becomes a task. */
export const split = defineTask({
  type: 'waveform.split',
  run({ file, samples, count }: { file: string; samples: number; count: number }): Piece[] {
    const columns = Math.ceil(COLUMNS / count);
    return Array.from({ length: count }, (_, place) => ({
      file,
      from: Math.floor((place * samples) / count),
      to: Math.floor(((place + 1) * samples) / count),
      columns,
    }));
  },
});

/** Finds the peaks of one piece. Many of these tasks run at the same time. */
export const peaks = defineTask({
  type: 'waveform.peaks',
  timeouts: { runMs: 60_000 },
  async run({ file, from, to, columns }: Piece): Promise<Peaks> {
    return findPeaks(await readSamples(file, from, to), columns);
  },
});

/** Draws the pieces side by side. */
export const draw = defineTask({
  type: 'waveform.draw',
  async run({ run, pieces }: { run: string; pieces: readonly Peaks[] }) {
    const picture = join(FOLDER, `${run}.svg`);
    await writeWhole(picture, drawSvg(pieces));
    return { picture, pieces: pieces.length };
  },
});

/** Writes a file so that no reader ever sees half of it. */
async function writeWhole(path: string, content: string | Buffer): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(`${path}.part`, content);
  await rename(`${path}.part`, path);
}
