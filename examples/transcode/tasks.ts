import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defineTask, PermanentFailure } from '@sluice/sdk';

export interface Clip {
  readonly name: string;
  readonly path: string;
  readonly seconds: number;
  readonly bytes: number;
}

const run = promisify(execFile);

/** The clips of a folder, the shortest first. */
export const findClips = defineTask({
  type: 'transcode.find',
  async run({ folder }: { folder: string }): Promise<{ clips: Clip[] }> {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.mp4'));
    // A folder without clips will not have any at the next try either.
    if (names.length === 0) throw new PermanentFailure(`${folder} has no clips`);
    const clips = await Promise.all(names.map((name) => measure(join(folder, name), name)));
    return { clips: clips.sort((a, b) => a.seconds - b.seconds) };
  },
});

async function measure(path: string, name: string): Promise<Clip> {
  const format = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0'];
  const { stdout } = await run('ffprobe', [...format, path]);
  return { name, path, seconds: Number(stdout), bytes: (await stat(path)).size };
}

export interface Video {
  readonly blob: string;
  readonly bytes: number;
}

/** How much room the small clips save. */
export const sumUp = defineTask({
  type: 'transcode.sum-up',
  run: ({ before, videos }: { before: readonly Clip[]; videos: readonly Video[] }) => ({
    clips: before.map(({ name, seconds }, at) => ({
      name,
      seconds,
      video: videos[at]?.blob ?? '',
    })),
    bytesBefore: before.reduce((sum, { bytes }) => sum + bytes, 0),
    bytesAfter: videos.reduce((sum, { bytes }) => sum + bytes, 0),
  }),
});
