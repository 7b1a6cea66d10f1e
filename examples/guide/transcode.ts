import { defineTask, type Sluice } from '@sluice/sdk';

export const transcode = defineTask({
  type: 'transcode',
  resources: { cpu: 2, memoryMb: 2048 },
  retry: { maxAttempts: 5 },
  async run(input: { url: string; height: number }, { signal, progress, log }) {
    for (let pass = 0; pass < 2; pass++) {
      signal.throwIfAborted();
      await progress(pass / 2, `pass ${pass + 1}`);
    }
    await log(`${input.url} is done`);
    return { url: `${input.url}.${input.height}.mp4` };
  },
});

export const thumbnail = defineTask({
  type: 'thumbnail',
  run: (input: { url: string }) => ({ url: `${input.url}.jpg` }),
});

/** One with a hurry and one without; many together. */
export async function submitVideos(sluice: Sluice, urls: readonly string[]): Promise<string[]> {
  const [url] = urls;
  const inputs = urls.map((each) => ({ url: each, height: 1080 }));

  const task = await sluice.submit(transcode, { url, height: 720 }, { priority: 7, delayMs: 1000 });
  const tasks = await sluice.submitMany(transcode, inputs, ({ height }) => ({
    tags: { height: `${height}` },
  }));

  const outputs = await Promise.all([task, ...tasks].map((each) => each.result()));
  return outputs.map((output) => output.url);
}

export async function workOnVideos(sluice: Sluice): Promise<void> {
  const worker = await sluice.work([transcode, thumbnail], {
    slots: 20,
    concurrency: { thumbnail: 4 },
    resources: { cpu: 8, memoryMb: 16_384, gpu: 1 },
    labels: { zone: 'eu' },
    version: '1.4.0',
  });

  await worker.stopped;
}
