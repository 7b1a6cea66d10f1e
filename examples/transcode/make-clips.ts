import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Writes a clip of each length into a folder, so that the example needs no camera. */
export async function makeClips(folder: string, seconds: readonly number[]): Promise<void> {
  for (const each of seconds) {
    const source = `testsrc=duration=${each}:size=640x360:rate=10`;
    const path = join(folder, `clip of ${each} s.mp4`);
    const made = ['-f', 'lavfi', '-i', source, '-c:v', 'mpeg4', '-b:v', '1M', path];
    await run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...made]);
  }
}
