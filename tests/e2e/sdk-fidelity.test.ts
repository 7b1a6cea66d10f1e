import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LIMITS } from '@sluice/protocol';
import {
  defineTask,
  Later,
  PermanentFailure,
  RetryAfter,
  Sluice,
  type TaskClient,
  type TaskHandle,
  type TaskView,
} from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

/** What the handler does at each attempt. */
type Step = 'return' | 'throw' | 'give up' | 'come back' | 'later' | 'hang' | 'bad' | 'large';
type Script = readonly Step[];

/** Too large for a request. */
const LARGE: Script = Array(50_000).fill('large');

const scripted = defineTask({
  type: 'scripted',
  retry: { maxAttempts: 3, delayMs: 10, backoff: 'fixed', jitter: false },
  run: (script: Script, { attempt, signal }): unknown => {
    switch (script[attempt - 1]) {
      case 'throw':
        throw Object.assign(new Error(`attempt ${attempt}`), { code: 'E_SCRIPT' });
      case 'give up':
        throw new PermanentFailure('never');
      case 'come back':
        throw new RetryAfter(20);
      case 'later':
        return Later;
      case 'hang':
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      case 'bad':
        return { n: 1n };
      case 'large':
        return script;
      default:
        return { attempt };
    }
  },
});

type Scenario = (client: TaskClient) => Promise<TaskHandle>;

async function untilStarted(task: TaskHandle): Promise<void> {
  for (;;) if (['leased', 'running'].includes((await task.get()).state)) return;
}

const SCENARIOS: Record<string, Scenario> = {
  succeeds: (client) => client.submit(scripted, ['return'], { tags: { a: 'b' }, priority: 8 }),
  'succeeds at last': (client) => client.submit(scripted, ['throw', 'come back', 'return']),
  'has no attempts left': (client) => client.submit(scripted, ['throw', 'throw', 'throw']),
  'fails for good': (client) => client.submit(scripted, ['throw', 'give up']),
  'returns what is no JSON': (client) => client.submit(scripted, ['bad']),
  'has a large input and output': (client) => client.submit(scripted, LARGE),
  'is late': (client) => client.submit(scripted, ['return'], { delayMs: 30 }),
  'expires while it waits': (client) =>
    client.submit(scripted, ['return'], { delayMs: 60_000, timeouts: { totalMs: 20 } }),
  'is cancelled while it waits': async (client) => {
    const task = await client.submit(scripted, ['return'], { delayMs: 60_000 });
    await task.cancel();
    return task;
  },
  'is updated while it waits': async (client) => {
    const options = { delayMs: 60_000, tags: { a: 'b', c: 'd' } };
    const task = await client.submit(scripted, ['throw'], options);
    await client.update(task, { input: ['return'], tags: { a: null, e: 'f' }, priority: 1 });
    await task.update({ runAt: null });
    return task;
  },
  'is cancelled while it runs': async (client) => {
    const task = await client.submit(scripted, ['hang']);
    await untilStarted(task);
    await task.cancel();
    return task;
  },
  'is completed from outside': async (client) => {
    const task = await client.submit(scripted, ['later']);
    while ((await task.get()).reason !== 'later') await new Promise(setImmediate);
    await task.complete({ by: 'somebody' });
    return task;
  },
  'is retried after its end': async (client) => {
    const task = await client.submit(scripted, ['throw', 'give up']);
    await task.wait();
    await client.tasks.retry(task, { input: ['throw', 'return'] });
    return task;
  },
  'is failed from outside': async (client) => {
    const task = await client.submit(scripted, ['hang']);
    await untilStarted(task);
    await task.fail({ message: 'enough', code: 'E_ENOUGH' });
    return task;
  },
};

let folder: string;
let server: ServerProcess;
let sluice: Sluice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work([scripted], { handleSignals: false, logFailures: false });
});

afterAll(async () => {
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Everything except ids, names and times. */
function story({ attempts, error, ...task }: TaskView): object {
  const { type, state, reason, priority, attempt, runAt, tags, parentId, input, output } = task;
  const wasCancelled = task.cancelRequestedAt !== null;
  return {
    ...{ type, state, reason, priority, attempt, runAt, tags, parentId, input, output },
    wasCancelled,
    error: error === null ? null : { message: error.message, code: error.code },
    attempts: attempts.map(({ attempt, outcome, error: own }) => {
      return { attempt, outcome, error: own?.message };
    }),
  };
}

test.each(Object.entries(SCENARIOS))('a task that %s ends as on a server', async (_, scenario) => {
  const real = await scenario(sluice);
  const simulated = await scenario(new TestSluice([scripted]));

  expect(story(await simulated.wait())).toEqual(story(await real.wait()));
  expect(story(await simulated.get())).toEqual(story(await real.get()));
});

async function refusal(made: Promise<unknown>): Promise<object> {
  const { code, status, details } = await made.then(
    () => Promise.reject(new Error('it was taken')),
    (cause) => cause,
  );
  return { code, status, paths: details.map(({ path }: { path: string }) => path) };
}

const deep = JSON.parse('['.repeat(501) + ']'.repeat(501));

const REFUSED: Record<string, (client: TaskClient) => Promise<unknown>> = {
  'a priority of 9': (client) => client.submit(scripted, [], { priority: 9 }),
  'an unknown option': (client) => client.submit(scripted, [], { prio: 1 } as object),
  'a type that is reserved': (client) => client.submit('command', null),
  'a tag that is too long': (client) =>
    client.submit(scripted, [], { tags: { a: 'b'.repeat(257) } }),
  'one of many': (client) => client.submitMany('a', [1, 2], { timeouts: { runMs: 0 } }),
  'an input that is too large': (client) => client.submit('a', 'x'.repeat(LIMITS.blobBytesMax)),
  'an input that is too deep': (client) => client.submit('a', deep),
  'a definition that is not valid': (client) =>
    client.register({ type: 'a', retry: { maxAttempts: 5000 } }),
  'a signal without a name': async (client) => {
    const task = await client.submit(scripted, ['return'], { delayMs: 60_000 });
    return task.signal('', null);
  },
  'a grace of days': async (client) => {
    const task = await client.submit(scripted, ['return'], { delayMs: 60_000 });
    return task.cancel({ graceMs: 86_400_000 });
  },
};

test.each(Object.entries(REFUSED))('%s is refused as by a server', async (_, attempt) => {
  const real = await refusal(attempt(sluice));
  const simulated = await refusal(attempt(new TestSluice([scripted])));

  expect(simulated).toEqual(real);
});
