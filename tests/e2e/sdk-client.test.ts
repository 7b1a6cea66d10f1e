import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Later, PermanentFailure, Sluice, TaskFailed } from '@sluice/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { Relay } from './relay.ts';

const ROOT = join(import.meta.dirname, '../..');

let folder: string;
let server: ServerProcess;
let sluice: Sluice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  sluice = new Sluice({ url: server.url });
});

afterEach(() => sluice.close());

const options = { handleSignals: false, logFailures: false } as const;

/** Runs until it is told to stop. Calls `onStart` when it has started. */
function endless(onStart: () => void = () => undefined) {
  return defineTask({
    type: 'endless',
    run: (_: unknown, { signal }) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        onStart();
      }),
  });
}

test('a task goes from submit to its typed result', async () => {
  const hello = defineTask({
    type: 'hello',
    async run(input: { name: string }, { id, attempt, idempotencyKey, tags, progress, log }) {
      await progress(0.5, 'half');
      await log('a line');
      return { text: `Hello, ${input.name}`, attempt, isKey: id === idempotencyKey, tags };
    },
  });
  await sluice.work([hello], options);

  const task = await sluice.submit(hello, { name: 'Ädä €' }, { tags: { color: 'red' } });
  const { text, ...rest } = await task.result();

  expect(text).toBe('Hello, Ädä €');
  expect(rest).toEqual({ attempt: 1, isKey: true, tags: { color: 'red' } });
  expect(await task.get()).toMatchObject({ id: task.id, state: 'succeeded', attempt: 1 });
});

test('thousands of tasks are waited for together', async () => {
  const square = defineTask({ type: 'square', run: (n: number) => n * n });
  await sluice.work([square], options);
  const inputs = Array.from({ length: 2500 }, (_, n) => n);

  const tasks = await sluice.submitMany(square, inputs);
  const outputs = await Promise.all(tasks.map((task) => task.result()));

  expect(outputs).toEqual(inputs.map((n) => n * n));
});

test('failures are retried, unless they are permanent', async () => {
  const flaky = defineTask({
    type: 'flaky',
    retry: { maxAttempts: 3, delayMs: 1, jitter: false },
    run: (isPermanent: boolean, { attempt }) => {
      if (isPermanent) throw new PermanentFailure('never');
      if (attempt < 3) throw new Error('not yet');
      return attempt;
    },
  });
  await sluice.work([flaky], options);

  const [passing, lasting] = await sluice.submitMany(flaky, [false, true]);

  expect(await passing.result()).toBe(3);
  const failure = await lasting.result().catch((cause: unknown) => cause);
  expect(failure).toBeInstanceOf(TaskFailed);
  expect(failure).toMatchObject({ state: 'failed', error: { message: 'never' } });
  expect(await lasting.get()).toMatchObject({ attempt: 1 });
});

test('a handler hears that its task is cancelled', async () => {
  let isRunning = false;
  const task = endless(() => {
    isRunning = true;
  });
  await sluice.work([task], options);
  const handle = await sluice.submit(task, null);
  await waitUntil(() => isRunning, { what: 'the handler runs', timeoutMs: 30_000 });

  const view = await handle.cancel();

  expect(view.cancelRequestedAt).not.toBeNull();
  expect(await handle.wait()).toMatchObject({ state: 'cancelled' });
  await expect(handle.result()).rejects.toThrow('ended as cancelled');
});

test('a handler that takes too long hears it, and the task is timed out', async () => {
  await sluice.work([endless()], options);

  const task = await sluice.submit(endless(), null, {
    timeouts: { runMs: 100 },
    retry: { maxAttempts: 1 },
  });

  expect(await task.wait()).toMatchObject({ state: 'timed_out' });
});

test('a signal reaches the handler', async () => {
  const listens = defineTask({
    type: 'listens',
    run: (_: unknown, { onSignal, progress }) =>
      new Promise<unknown>((resolve) => {
        onSignal((name, data) => resolve([name, data]));
        void progress(0);
      }),
  });
  await sluice.work([listens], options);
  const task = await sluice.submit(listens, null);
  await waitForState(task, 'leased', 'running');

  await task.signal('louder', { by: 3 });

  expect(await task.result()).toEqual(['louder', { by: 3 }]);
});

test('a task whose handler returned Later is ended from outside', async () => {
  const review = defineTask<null, string>({ type: 'review', run: () => Later });
  await sluice.work([review], options);
  const [good, bad] = await sluice.submitMany(review, [null, null]);
  for (const task of [good, bad]) await waitForState(task, 'running');

  await good.complete('fine');
  await bad.fail('not fine');

  expect(await good.result()).toBe('fine');
  await expect(bad.result()).rejects.toMatchObject({ error: { message: 'not fine' } });
});

test('a registered type is submitted by its name', async () => {
  const named = defineTask({ type: 'named', priority: 7, tags: { color: 'red' } });
  await sluice.register(named);

  const task = await sluice.submit('named', null);

  expect(await task.get()).toMatchObject({ priority: 7, tags: { color: 'red' } });
});

test('what the server refuses is an error that says why', async () => {
  await expect(sluice.submit('hello', 1, { priority: 99 })).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ path: expect.stringContaining('/priority') }],
  });
  await expect(sluice.task('t_nobody').get()).rejects.toMatchObject({ code: 'task_not_found' });
  await expect(sluice.task('t_nobody').result()).rejects.toMatchObject({ code: 'task_not_found' });
  const done = await sluice.submit('unhandled', null);
  await done.cancel();
  await expect(done.signal('x')).rejects.toMatchObject({ code: 'task_not_leased' });
});

test('a wait that is over in time shows the task as it is', async () => {
  const task = await sluice.submit('nobody-handles-it', null);

  expect(await task.wait({ timeoutMs: 50 })).toMatchObject({ state: 'queued' });
  await expect(task.result({ timeoutMs: 50 })).rejects.toMatchObject({ code: 'wait_timeout' });
});

test('of several addresses one that answers is enough', async () => {
  const echo = defineTask({ type: 'echo', run: (input: number) => input });
  const several = new Sluice({ url: `http://127.0.0.1:1,${server.url}` });
  await several.work([echo], { ...options, onNotice: () => undefined });

  const task = await several.submit(echo, 7);

  expect(await task.result()).toBe(7);
  await several.close();
});

test('a server that is killed and started again loses no submit, no end and no wait', async () => {
  const relay = await Relay.start(() => server.url);
  let isRestarted = false;
  let started = 0;
  const runs = new Map<number, number>();
  const slow = defineTask({
    type: 'slow',
    async run(n: number) {
      started += 1;
      runs.set(n, (runs.get(n) ?? 0) + 1);
      await waitUntil(() => isRestarted, { what: 'the server is back', timeoutMs: 60_000 });
      return n;
    },
  });
  const client = new Sluice({ url: relay.url });
  await client.work([slow], { ...options, leaseMs: 60_000, onNotice: () => undefined });
  const inputs = Array.from({ length: 50 }, (_, n) => n);
  const tasks = await client.submitMany(slow, inputs);
  const results = Promise.all(tasks.map((task) => task.result()));
  await waitUntil(() => started === 50, { what: 'all handlers run', timeoutMs: 60_000 });

  await server.kill();
  const late = client.submit(slow, 50);
  // No server runs, so these ends cannot be reported yet.
  isRestarted = true;
  server = await ServerProcess.startDev(folder);

  expect(await results).toEqual(inputs);
  expect(await (await late).result()).toBe(50);
  expect([...runs.values()].filter((times) => times !== 1)).toEqual([]);
  await client.close();
  relay.stop();
});

test('SIGTERM lets handlers end, and ends the process', async () => {
  const program = `
    import { defineTask, Sluice } from '@sluice/sdk';
    const sluice = new Sluice();
    const slow = defineTask({
      type: 'graceful',
      run: () => new Promise((resolve) => {
        console.log('running');
        process.once('SIGTERM', () => setTimeout(() => resolve('ended well'), 50));
      }),
    });
    await sluice.work([slow]);
    console.log('working');
  `;
  const args = ['--input-type=module', '--eval', program];
  const env = { ...process.env, SLUICE_URL: server.url };
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  const task = await sluice.submit('graceful', null);
  await waitUntil(() => output.includes('running'), { what: 'it runs', timeoutMs: 30_000 });

  child.kill('SIGTERM');
  const [, signal] = await once(child, 'close');

  expect(signal).toBe('SIGTERM');
  expect(await task.wait()).toMatchObject({ state: 'succeeded', output: 'ended well', attempt: 1 });
});

test('the hello world of the README is the example, and prints its greeting', async () => {
  const file = join(ROOT, 'examples/hello/hello.ts');
  const text = await readFile(file, 'utf8');

  const env = { ...process.env, SLUICE_URL: server.url };
  const output = execFileSync(process.execPath, [file], { cwd: ROOT, env, encoding: 'utf8' });

  expect(output).toBe('Hello, Ada\n');
  for (const page of ['README.md', 'docs/sdk.md']) {
    expect(await readFile(join(ROOT, page), 'utf8')).toContain(`\`\`\`ts\n${text}\`\`\``);
  }
});

test('the entry for browsers does the same over fetch', () => {
  const program = `
    import { defineTask, Sluice } from '@sluice/sdk';
    const sluice = new Sluice({ url: '${server.url}' });
    const double = defineTask({ type: 'double', run: (n) => n * 2 });
    await sluice.work([double], { onNotice: (notice) => console.log(notice.type) });
    const tasks = await sluice.submitMany(double, [1, 2, 3]);
    console.log(await Promise.all(tasks.map((task) => task.result())));
    await sluice.close();
  `;

  const output = runProgram(program, '--conditions=browser');

  expect(output).toBe('connected\n[ 2, 4, 6 ]\n');
});

test('a program that only submits and waits ends by itself', () => {
  const program = `
    import { Sluice } from '@sluice/sdk';
    const sluice = new Sluice({ url: '${server.url}' });
    const task = await sluice.submit('nobody-handles-it', null);
    console.log((await task.wait({ timeoutMs: 10 })).state);
  `;

  expect(runProgram(program)).toBe('queued\n');
});

function runProgram(program: string, ...flags: string[]): string {
  const args = [...flags, '--input-type=module', '--eval', program];
  return execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 30_000 });
}

interface Watched {
  get(): Promise<{ state: string }>;
}

async function waitForState(task: Watched, ...states: string[]): Promise<void> {
  for (;;) {
    const { state } = await task.get();
    if (states.includes(state)) return;
  }
}
