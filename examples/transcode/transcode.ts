import { defineWorkflow, inputOf } from '@sluice/sdk';
import { type Clip, findClips, sumUp } from './tasks.ts';

/** What an agent says of a command with named output files. */
interface Files {
  readonly outputs: { readonly video: { readonly blob: string; readonly bytes: number } };
}

/** Makes one clip small, on one core. */
export const transcodeClip = defineWorkflow(
  'transcode-clip',
  { version: 1, input: inputOf<Clip>() },
  (w) => {
    const made = w.exec<Files>(
      'ffmpeg',
      {
        // No shell reads these words, so any file name will do.
        command: [
          ...['ffmpeg', '-v', 'error', '-nostdin', '-i', w.input.path],
          ...['-threads', '1', '-vf', 'scale=160:-2', '-c:v', 'mpeg4', 'small.mp4'],
        ],
        outputs: { video: 'small.mp4' },
      },
      { resources: { cpu: 1, memoryMb: 512 }, retry: { maxAttempts: 2 } },
    );
    return { name: w.input.name, video: made.output.outputs.video };
  },
);

/** Makes all clips of a folder small, the short ones first, as many at once as there are cores. */
export const transcodeFolder = defineWorkflow(
  'transcode-folder',
  { version: 1, input: inputOf<{ folder: string }>() },
  (w) => {
    const found = w.step('find', findClips, { folder: w.input.folder });
    const small = w.map(found.output.clips, transcodeClip, { name: 'clips' });
    return w.step('sum-up', sumUp, { before: found.output.clips, videos: small.outputs.video });
  },
);
