/** Something to look at in the console: tasks, runs, schedules and workers of a small studio. */
import { defineTask, PermanentFailure, Sluice } from '@sluice/sdk';

const FRAMES = 40;

const transcode = defineTask({
  type: 'transcode',
  resources: { cpu: 1, memoryMb: 512 },
  async run(input: { file: string; height: number }, { log, progress, signal, usage }) {
    for (let frame = 1; frame <= FRAMES; frame++) {
      const colour = frame % 10 === 0 ? '\u001b[33m' : '\u001b[32m';
      await log(`${colour}frame ${frame * 25}\u001b[0m of ${input.file}, ${input.height}p`);
      await progress(frame / FRAMES, `frame ${frame * 25}`);
      await delay(input.height / 3, signal);
    }
    const wallMs = (FRAMES * input.height) / 3;
    usage({ wallMs, cpuMs: Math.round(wallMs * 0.72), memoryPeakBytes: 381 * 1024 * 1024 });
    return {
      file: `${input.file}.${input.height}.mp4`,
      seconds: 64,
      bitrate: { video: 2400, audio: 128 },
    };
  },
});

const sendMail = defineTask({
  type: 'send-mail',
  retry: { maxAttempts: 2, delayMs: 50 },
  async run({ to, n }: { to: string; n: number }, { log }) {
    await log(`connecting to mail server for ${to}`);
    if (n % 4 === 0)
      throw new Error(`mail server refused ${to}: 451 try later (connection ${n * 31})`);
    if (n % 7 === 0) throw new PermanentFailure(`no such mailbox: ${to}`);
    return { accepted: to };
  },
});

const probe = defineTask({
  type: 'probe',
  run: async ({ file }: { file: string }) => ({ file, seconds: 64, kind: 'long', parts: 6 }),
});

const cut = defineTask({
  type: 'cut',
  async run({ __index = 0 }: { __index?: number }, { signal }) {
    await delay(400 + __index * 150, signal);
    return { part: __index };
  },
});

const poster = defineTask({
  type: 'poster',
  async run(_: unknown, { signal }) {
    await delay(900, signal);
    return { picture: PICTURE };
  },
});

const publish = defineTask({
  type: 'publish',
  run: async () => ({ url: 'https://example.com/film' }),
});

const BARS = Array.from({ length: 24 }, (_, index) => {
  const height = 12 + Math.round(40 * Math.abs(Math.sin(index * 0.7)));
  return `<rect x="${index * 10 + 4}" y="${60 - height}" width="6" height="${height}" rx="2"/>`;
});

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 244 64" fill="#0f7f8c">${BARS.join('')}</svg>`;

const step = (name: string, taskReferenceName: string, inputParameters: object = {}) => ({
  name,
  taskReferenceName,
  inputParameters,
});

const FILM = {
  inputSchema: {
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Name of the film' },
      quality: { type: 'string', enum: ['low', 'high'] },
    },
    required: ['file'],
  },
  tasks: [
    step('probe', 'probe', { file: '${workflow.input.file}' }),
    {
      taskReferenceName: 'by-length',
      type: 'SWITCH',
      expression: 'kind',
      inputParameters: { kind: '${probe.output.kind}' },
      decisionCases: {
        long: [
          {
            taskReferenceName: 'both',
            type: 'FORK_JOIN',
            forkTasks: [
              [
                {
                  taskReferenceName: 'parts',
                  type: 'FORK_JOIN_DYNAMIC',
                  inputParameters: {
                    forkTaskName: 'cut',
                    forkTaskInputs: '${workflow.input.parts}',
                  },
                },
                { taskReferenceName: 'all-parts', type: 'JOIN' },
              ],
              [step('poster', 'poster')],
            ],
          },
          { taskReferenceName: 'joined', type: 'JOIN', joinOn: ['all-parts', 'poster'] },
        ],
      },
      defaultCase: [{ taskReferenceName: 'whole', type: 'NOOP' }],
    },
    { taskReferenceName: 'approve', type: 'HUMAN' },
    step('publish', 'publish', { picture: '${poster.output.picture}' }),
  ],
};

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

async function call(url: string, method: string, path: string, body?: unknown): Promise<void> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
}

const SCHEDULES: Readonly<Record<string, object>> = {
  'nightly-report': {
    spec: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' },
    task: { type: 'report', input: { day: '{{scheduledAt}}' } },
  },
  'hourly-clean-up': { spec: { cron: '15 * * * *' }, task: { type: 'clean-up' } },
  'weekday-newsletter': {
    spec: { cron: '30 8 * * 1-5', timeZone: 'Europe/Berlin' },
    task: { type: 'send-mail', input: { to: 'all@example.com', n: 1 } },
    overlap: 'skip',
  },
  'poll-inbox': { spec: { everyMs: 1_200_000 }, task: { type: 'poll' } },
  'weekly-film': {
    spec: { cron: '0 20 * * 5' },
    run: { workflow: 'film', input: { file: 'weekly.mov', parts: [] } },
  },
  'billing-run': { spec: { cron: '0 6 1 * *' }, task: { type: 'bill' }, paused: true },
};

/** Fills a server; returns what stops the workers. The run of `film` waits for an approval. */
export async function startDemo(
  url: string,
): Promise<{ readonly run: string; readonly task: string; readonly close: () => Promise<void> }> {
  const sluice = new Sluice({ url });
  await sluice.work([transcode, probe, cut, poster, publish], {
    name: 'studio-1',
    slots: 16,
    resources: { cpu: 8, memoryMb: 16_384 },
    labels: { zone: 'eu', disk: 'ssd' },
    handleSignals: false,
    stopGraceMs: 0,
  });
  const other = new Sluice({ url });
  await other.work([sendMail], {
    name: 'mailer-1',
    slots: 4,
    resources: { cpu: 2, memoryMb: 2048 },
    labels: { zone: 'us' },
    handleSignals: false,
    stopGraceMs: 0,
  });
  await call(url, 'PUT', '/v1/workflows/film/versions/1', {
    ...FILM,
    tasks: FILM.tasks.filter((each) => !('type' in each) || each.type !== 'HUMAN'),
  });
  await call(url, 'PUT', '/v1/workflows/film/versions/2', FILM);
  for (const [id, body] of Object.entries(SCHEDULES))
    await call(url, 'PUT', `/v1/schedules/${id}`, body);
  const mails = Array.from({ length: 40 }, (_, n) => ({ to: `reader-${n}@example.com`, n: n + 1 }));
  await sluice.submitMany(sendMail, mails, { tags: { campaign: 'autumn' } });
  const films = ['harbour', 'mountain', 'river'].map((name) => ({
    file: `${name}.mov`,
    height: 240,
  }));
  await sluice.submitMany(transcode, films, { priority: 6 });
  const slow = await sluice.submit(
    transcode,
    { file: 'long-night.mov', height: 2160 },
    { tags: { customer: '42' } },
  );
  await sluice.submitMany(
    'report',
    Array.from({ length: 12 }, (_, n) => ({ n })),
    { priority: 2 },
  );
  const parts = Array.from({ length: 6 }, (_, part) => ({ part }));
  const { id: run } = await startRun(url, { file: 'opera.mov', parts });
  await startRun(url, { file: 'concert.mov', parts: parts.slice(0, 3) });
  return {
    run,
    task: slow.id,
    close: async () => {
      await sluice.close();
      await other.close();
    },
  };
}

async function startRun(url: string, input: object): Promise<{ readonly id: string }> {
  const body = JSON.stringify({ workflow: 'film', input });
  const response = await fetch(`${url}/v1/runs`, { method: 'POST', body });
  return (await response.json()) as { id: string };
}
