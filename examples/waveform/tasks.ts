import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineTask, PermanentFailure, type Sluice } from '@sluice/sdk';
import { melody } from './melody.ts';
import { drawSvg, findPeaks, type Peaks } from './picture.ts';
import { encodeWav, readSamples, SAMPLE_RATE } from './wav.ts';

interface Chunk {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly columns: number;
}

/** Finds the peaks of one piece of a sound. Many of these tasks run at the same time. */
export const peaks = defineTask({
  type: 'waveform.peaks',
  timeouts: { runMs: 60_000 },
  async run({ file, from, to, columns }: Chunk): Promise<Peaks> {
    return findPeaks(await readSamples(file, from, to), columns);
  },
});

interface WaveformInput {
  /** Length of the tune; 20 unless stated. */
  readonly seconds?: number;
  /** Number of pieces; 16 unless stated. */
  readonly chunks?: number;
  /** Another number gives another tune. */
  readonly seed?: number;
}

const COLUMNS = 800;

/**
 * Makes a tune, submits a task for each of its pieces, joins their results and draws them.
 *
 * It may run twice when a worker is lost. Then the files have the same names, and the pieces have
 * the same dedupe keys. So finished work is not done again.
 */
export function waveformTask(sluice: Sluice, folder: string) {
  return defineTask({
    type: 'waveform',
    timeouts: { runMs: 600_000 },
    async run(input: WaveformInput | null, { id, progress, log, signal }) {
      const { seconds = 20, chunks = 16, seed = 1 } = input ?? {};
      if (!(seconds > 0 && seconds <= 600)) throw new PermanentFailure('seconds: 0 to 600');
      if (!(chunks >= 1 && chunks <= 100)) throw new PermanentFailure('chunks: 1 to 100');
      const file = join(folder, `${id}.wav`);
      progress(0, 'making a sound');
      const samples = melody(seconds, seed);
      await writeWhole(file, encodeWav(samples));
      log(`${seconds} s of sound, ${SAMPLE_RATE} samples a second`);

      const pieces = split(file, samples.length, chunks);
      const tasks = await sluice.submitMany(peaks, pieces, ({ from }) => ({
        parentId: id,
        dedupeKey: `${id}-${from}`,
      }));
      let done = 0;
      const found = await Promise.all(
        tasks.map(async (task) => {
          const result = await task.result({ signal });
          done += 1;
          progress(done / tasks.length, `${done} of ${tasks.length} pieces`);
          return result;
        }),
      );

      const picture = join(folder, `${id}.svg`);
      await writeWhole(picture, drawSvg(found));
      return { picture, sound: file, seconds, pieces: tasks.length };
    },
  });
}

function split(file: string, samples: number, chunks: number): Chunk[] {
  const columns = Math.ceil(COLUMNS / chunks);
  return Array.from({ length: chunks }, (_, place) => ({
    file,
    from: Math.floor((place * samples) / chunks),
    to: Math.floor(((place + 1) * samples) / chunks),
    columns,
  }));
}

/** Writes a file so that no reader ever sees half of it. */
async function writeWhole(path: string, content: string | Buffer): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(`${path}.part`, content);
  await rename(`${path}.part`, path);
}
