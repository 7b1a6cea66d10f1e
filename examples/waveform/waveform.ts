import { defineWorkflow, inputOf } from '@sluice/sdk';
import { draw, peaks, record, split } from './tasks.ts';

interface WaveformInput {
  /** Length of the tune, up to 600; 20 unless stated. */
  readonly seconds?: number;
  /** Another number gives another tune. */
  readonly seed?: number;
  /** Who is told where the picture is; nobody unless stated. */
  readonly tell?: string;
}

/** Makes a tune, measures its pieces side by side, draws what they found, and tells somebody. */
export const waveform = defineWorkflow(
  'waveform',
  {
    version: 1,
    input: inputOf<WaveformInput>(),
    inputTemplate: { seconds: 20, seed: 1 },
    variables: { count: 16 },
  },
  (w) => {
    const sound = w.step('record', record, {
      run: w.runId,
      seconds: w.input.seconds,
      seed: w.input.seed,
    });

    w.switchBy(
      { script: "$.seconds > 120 ? 'long' : 'short'", input: { seconds: w.input.seconds } },
      { long: (w) => w.set({ count: 64 }) },
    );

    const pieces = w.step('split', split, {
      file: sound.output.file,
      samples: sound.output.samples,
      count: w.variables.count,
    });

    const measured = w.map(pieces.output, peaks, { name: 'measure' });
    const drawn = w.step('draw', draw, { run: w.runId, pieces: measured.outputs });

    w.switchBy(
      { script: "$.tell ? 'somebody' : 'nobody'", input: { tell: w.input.tell } },
      {
        somebody: (w) =>
          w.callback('tell', { url: `${w.input.tell}` }, { picture: drawn.output.picture }),
      },
    );

    return { picture: drawn.output.picture, sound: sound.output.file, pieces: drawn.output.pieces };
  },
);
