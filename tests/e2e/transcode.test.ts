/** The example examples/transcode, with an agent and with ffmpeg. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClips } from '../../examples/transcode/make-clips.ts';
import { findClips, sumUp } from '../../examples/transcode/tasks.ts';
import { transcodeFolder } from '../../examples/transcode/transcode.ts';
import { Agent } from '../../packages/agent/src/agent.ts';
import { Sluice } from '../../packages/sdk/src/index.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

let folder: string;
let clips: string;
let server: ServerProcess;
let api: ApiClient;
let agent: Agent;
let sluice: Sluice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-transcode-'));
  clips = join(folder, 'clips');
  await mkdir(clips);
  // The user of the commands passes through it.
  for (const each of [folder, clips]) await chmod(each, 0o755);
  await makeClips(clips, [3, 1, 2]);
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
  agent = await Agent.start({
    url: server.url,
    workFolder: join(folder, 'work'),
    handleSignals: false,
    onNotice: () => undefined,
  });
  sluice = new Sluice({ url: server.url });
  await sluice.work([findClips, sumUp], { slots: 2, handleSignals: false });
});

afterAll(async () => {
  await sluice.close();
  await agent.stop(0);
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

test('clips go through ffmpeg on one core each, the short ones first', async () => {
  const run = await sluice.start(transcodeFolder, { folder: clips });
  const result = await run.result();

  expect(result.clips.map(({ name }) => name)).toEqual([
    'clip of 1 s.mp4',
    'clip of 2 s.mp4',
    'clip of 3 s.mp4',
  ]);
  expect(result.bytesAfter).toBeLessThan(result.bytesBefore);
  const { body } = await api.get('/v1/tasks?type=command');
  const commands = body.items.toSorted((a: Command, b: Command) => (a.id < b.id ? -1 : 1));
  expect(commands.map(({ exec }: Command) => exec.command[5])).toEqual([
    join(clips, 'clip of 1 s.mp4'),
    join(clips, 'clip of 2 s.mp4'),
    join(clips, 'clip of 3 s.mp4'),
  ]);
  for (const { resources, attempts } of commands) {
    expect(resources).toMatchObject({ cpu: 1, memoryMb: 512 });
    expect(attempts[0].usage.cpuMs).toBeGreaterThan(0);
  }
});

test('what comes out is a small clip', async () => {
  const run = await sluice.start(transcodeFolder, { folder: clips });
  const { clips: made } = await run.result();
  const answer = await fetch(`${server.url}/v1/blobs/${made[0]?.video}`);
  const path = join(folder, 'made.mp4');
  await writeFile(path, await answer.bytes());

  const shown = ['-v', 'error', '-show_entries', 'stream=width,height', '-of', 'csv=p=0', path];
  const { stdout } = await promisify(execFile)('ffprobe', shown);

  expect(stdout.trim()).toBe('160,90');
});

test('a clip that is none fails its run, and the run says which', async () => {
  const broken = join(folder, 'broken');
  await mkdir(broken);
  await chmod(broken, 0o755);
  await writeFile(join(broken, 'bad.mp4'), 'no clip at all');

  const run = await sluice.start(transcodeFolder, { folder: broken });

  await expect(run.result()).rejects.toThrow(/find|bad\.mp4/);
});

interface Command {
  readonly id: string;
  readonly exec: { readonly command: readonly string[] };
}
