/** Workflows of the SDK on a real server, and the same in TestSluice. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  defineTask,
  defineWorkflow,
  inputOf,
  Later,
  PermanentFailure,
  type RunHandle,
  Sluice,
  type TaskClient,
} from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { refusal, story } from './run-story.ts';

const charge = defineTask({
  type: 'charge',
  retry: { maxAttempts: 2, delayMs: 10, backoff: 'fixed', jitter: false },
  run: ({ amount }: { amount: number }, { attempt }) => {
    if (amount > 100) throw new PermanentFailure('card declined');
    if (amount > 50 && attempt === 1) throw new Error('no answer');
    return { receipt: `r-${amount}`, parts: [{ id: 1 }, { id: 2 }] };
  },
});
const pack = defineTask({
  type: 'pack',
  run: ({ receipt, ids }: { receipt: string; ids: readonly number[] }) => ({
    label: `${receipt}: ${ids.join()}`,
  }),
});
const fly = defineTask({ type: 'fly', run: () => ({ flight: 7 }) });
const review = defineTask({ type: 'review', run: (): { ok: boolean } | Later => Later });
const HANDLERS = [charge, pack, fly, review];

const sale = defineWorkflow(
  'sale',
  {
    version: 1,
    input: inputOf<{ amount: number; speed?: 'express' | 'stop' }>(),
    variables: { note: 'none' },
  },
  (w) => {
    const paid = w.step('charge', charge, { amount: w.input.amount });
    const { box } = w.fork({
      box: (w) => {
        const ids = w.eachOf(paid.output.parts, 'id');
        return w.step('pack', pack, { receipt: paid.output.receipt, ids });
      },
      note: (w) => w.set({ note: `\${x} for ${paid.output.receipt}` }),
    });
    const sent = w.switch(
      w.input.speed,
      {
        express: (w) => w.step('fly', fly, {}, { tags: { by: 'plane' } }),
        stop: (w) => w.terminate({ status: 'failed', reason: `no ${paid.output.receipt}` }),
      },
      (w) => w.noop(),
    );
    return {
      label: box.output.label,
      flight: sent.express.output,
      note: w.variables.note,
      parts: w.lengthOf(paid.output.parts),
    };
  },
);
const waiting = defineWorkflow('waiting', { version: 1 }, (w) => w.step('review', review));

let folder: string;
let server: ServerProcess;
let sluice: Sluice;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work(HANDLERS, { handleSignals: false, logFailures: false });
});

afterAll(async () => {
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

type Scenario = (client: TaskClient) => Promise<RunHandle>;

const options = { tags: { a: 'b' }, correlationId: 'c', priority: 7 };

const SCENARIOS: Record<string, Scenario> = {
  succeeds: (client) => client.start(sale, { amount: 12 }, options),
  'takes a case': (client) => client.start(sale, { amount: 12, speed: 'express' }),
  'is retried': (client) => client.start(sale, { amount: 60 }),
  fails: (client) => client.start(sale, { amount: 101 }),
  'is ended by a step': (client) => client.start(sale, { amount: 1, speed: 'stop' }),
  'is cancelled': async (client) => {
    const run = await client.start(waiting);
    await laterTask(client, run);
    await run.cancel();
    return run;
  },
  'is completed from outside': async (client) => {
    const run = await client.start(waiting);
    const task = client.task<{ ok: boolean }>(await laterTask(client, run));
    await task.complete({ ok: true });
    return run;
  },
  'is started by name': async (client) => {
    await client.workflows.put(sale);
    return client.start('sale', { amount: 3 });
  },
};

/** The task of the first step, once its handler has returned `Later`. */
async function laterTask(client: TaskClient, run: RunHandle): Promise<string> {
  let id = '';
  const isLater = async (): Promise<boolean> => {
    id = (await run.get()).steps[0].taskId ?? '';
    return id !== '' && (await client.tasks.get(id)).reason === 'later';
  };
  await waitUntil(isLater, { what: 'the handler has returned', timeoutMs: 10_000 });
  return id;
}

test.each(Object.entries(SCENARIOS))('a run that %s ends as on a server', async (_, scenario) => {
  const real = await scenario(sluice);
  const simulated = await scenario(new TestSluice(HANDLERS));

  const seen = story(await real.wait());

  expect(story(await simulated.wait())).toEqual(seen);
});

test('a run has the typed output of its workflow', async () => {
  const run = await sluice.start(sale, { amount: 12, speed: 'express' });

  expect(await run.result()).toEqual({
    label: 'r-12: 1,2',
    flight: { flight: 7 },
    note: '${x} for r-12',
    parts: 2,
  });
});

test('a failure names the run, the step and its error', async () => {
  const run = await sluice.start(sale, { amount: 101 });

  await expect(run.result()).rejects.toMatchObject({
    name: 'RunFailed',
    message: `run ${run.id} (sale) ended as failed: step charge: card declined`,
    step: 'charge',
    error: { message: 'card declined' },
  });
});

test('many runs are waited for at once, found and listed with their steps', async () => {
  const inputs = Array.from({ length: 100 }, (_, amount) => ({ amount: amount % 50 }));
  const tags = { batch: 'many' };

  const runs = await sluice.startMany(sale, inputs, { tags });
  const results = await Promise.all(runs.map((run) => run.result()));

  expect(results.map(({ label }) => label)).toEqual(inputs.map(({ amount }) => `r-${amount}: 1,2`));
  const found = new Set<string>();
  // Lists are a little behind.
  const areFound = async (): Promise<boolean> => {
    for await (const { id } of sluice.runs.list({ tags, status: 'succeeded' })) found.add(id);
    return found.size >= runs.length;
  };
  await waitUntil(areFound, { what: 'all runs are listed', timeoutMs: 10_000 });
  expect([...found].sort()).toEqual(runs.map(({ id }) => id).sort());
  const steps: string[] = [];
  for await (const { reference } of sluice.runs.steps(runs[0])) steps.push(reference);
  expect(steps).toContain('pack');
});

test('the example runs', async () => {
  const file = join(import.meta.dirname, '../../examples/order/main.ts');
  const env = { ...process.env, SLUICE_URL: server.url };

  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });

  expect(stdout).toBe('Invoice receipt-12.pdf, LH 7 with pen + ink\ncharge: card declined\n');
});

const REFUSED: Record<string, (client: TaskClient) => Promise<unknown>> = {
  'a workflow that is not registered': (client) => client.start('nothing', 1),
  'a version that is not registered': (client) => client.start('nothing', 1, { version: 3 }),
  'a priority of 9': (client) => client.start(sale, { amount: 1 }, { priority: 9 }),
  'an unknown option': (client) => client.start(sale, { amount: 1 }, { prio: 1 } as object),
  'one of many': (client) => client.startMany(sale, [{ amount: 1 }], { priority: 9 }),
  'a window without a key': (client) => client.start('sale', 1, { dedupeWindowMs: 5000 }),
  'an input that is too large': (client) => client.start('sale', 'x'.repeat(300_000)),
  'another definition of a version': async (client) => {
    await client.start(sale, { amount: 1 });
    return client.start(defineWorkflow('sale', { version: 1 }, (w) => w.noop()));
  },
  'a change of a version with runs': async (client) => {
    await client.start(sale, { amount: 1 });
    return client.workflows.put(defineWorkflow('sale', { version: 1 }, (w) => w.noop()));
  },
  'a page without items': (client) => client.runs.page({ limit: 0 }),
  'a page after nothing': (client) => client.runs.page({ cursor: '!' }),
  'a status that does not exist': (client) => client.runs.page({ status: 'broken' as 'failed' }),
  'a time that does not exist': (client) => client.runs.page({ since: '2030-02-30' }),
  'a page of too many workflows': (client) => client.workflows.page({ limit: 5000 }),
  'a name that no workflow has': (client) => client.workflows.get('two words'),
  'a version of nothing': (client) => client.workflows.version('sale', 0),
  'a delete of what is not there': (client) => client.workflows.delete('sale', 77),
  'a definition that cannot work': (client) =>
    client.workflows.put({ name: 'bad', version: 1, tasks: [{ type: 'WIAT' }] }),
  'a definition with a wrong option': (client) =>
    client.workflows.put(
      defineWorkflow('bad', { version: 1 }, (w) =>
        w.step('a', 'a', {}, { timeouts: { runMs: 0 } }),
      ),
    ),
  'a run that does not exist': (client) => client.runs.get('r_none'),
  'a wait for a run that does not exist': (client) => client.run('r_none').result(),
  'a cancel of a run that has ended': async (client) => {
    const run = await client.start(sale, { amount: 1 });
    await run.result();
    return run.cancel();
  },
  'another input for a key': async (client) => {
    await client.start(sale, { amount: 1 }, { dedupeKey: 'k' });
    return client.start(sale, { amount: 2 }, { dedupeKey: 'k' });
  },
};

test.each(Object.entries(REFUSED))('%s is refused as by a server', async (_, attempt) => {
  const real = await refusal(attempt(sluice));
  const simulated = await refusal(attempt(new TestSluice(HANDLERS)));

  expect(simulated).toEqual(real);
});
