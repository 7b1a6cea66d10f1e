/**
 * Makes the clips of a folder small: `npm start` in one terminal, then this program in another one,
 * with the path of a folder or without any. It needs ffmpeg.
 */
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sluice } from '@sluice/sdk';
import { makeClips } from './make-clips.ts';
import { findClips, sumUp } from './tasks.ts';
import { transcodeFolder } from './transcode.ts';

const folder = process.argv[2] ?? (await exampleClips());
const sluice = new Sluice();
await sluice.work([findClips, sumUp], { slots: 2 });

const run = await sluice.start(transcodeFolder, { folder });
console.log(`run ${run.id} makes the clips of ${folder} small`);
const { clips, bytesBefore, bytesAfter } = await run.result();
for (const { name, seconds, video } of clips) {
  console.log(`${name} (${seconds} s): sluice blob get ${video}`);
}
console.log(`${bytesBefore} bytes became ${bytesAfter}`);
await sluice.close();

async function exampleClips(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'clips-'));
  // The agent runs programs as another user.
  await chmod(made, 0o755);
  await makeClips(made, [4, 1, 2, 3]);
  return made;
}
