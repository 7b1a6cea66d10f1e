/** Loops, waits, scripts and people on a real server, and the same in TestSluice. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

const apply = defineTask({
  type: 'apply',
  run: ({ shard }: { shard: string }) => {
    if (shard === 'bad') throw new PermanentFailure('no such table');
    return { rows: shard.length };
  },
});
const review = defineTask({ type: 'review', run: (): { ok: boolean } | Later => Later });
const HANDLERS = [apply, review];

const release = defineWorkflow(
  'release',
  { version: 1, input: inputOf<{ shards: string[] }>(), variables: { total: 0 } },
  (w) => {
    const count = w.inline<number>('count', 'const { shards } = $; shards.length', {
      shards: w.input.shards,
    });
    w.wait('cool-down', { seconds: 1 });
    const answer = w.human<{ by: string }>('approve', { title: `\${${count.output.result}}` });
    const last = w.loopOver(
      w.input.shards,
      (w, { item, index }) => {
        const applied = w.step('apply', apply, { shard: item }, { optional: true });
        w.loop({ while: '$.tries.iteration < $.most', input: { most: 2 }, name: 'tries' }, (w) => {
          w.inline('verify', '`${$.index}: ${$.rows}`', { index, rows: applied.output.rows });
        });
        w.set({ total: index });
        return applied;
      },
      { while: '$.apply !== null', name: 'shards' },
    );
    const { done } = w.switchBy(
      { script: "$.status === 'COMPLETED' && 'done'", input: { status: last.status } },
      { done: (w) => w.inline<string>('say', '$.by', { by: answer.output.by }) },
      (w) => w.terminate({ status: 'failed', reason: 'a shard failed' }),
    );
    return { by: done.output.result, total: w.variables.total, rows: last.output.rows };
  },
);
const approval = defineWorkflow('approval', { version: 1, timeoutSeconds: 100 }, (w) => {
  const answer = w.human('approve', { title: 'ok?' });
  w.step('apply', apply, { shard: `${answer.status}` });
});
const twice = defineWorkflow('twice', { version: 1 }, (w) => {
  w.loop({ while: '$.loop.iteration < 2', name: 'loop' }, (w) => w.wait('signal'));
});
const broken = defineWorkflow('broken', { version: 1 }, (w) => {
  w.inline('script', "throw new Error('no such shard')");
});
const short = defineWorkflow('short', { version: 1, timeoutSeconds: 1 }, (w) => w.human('approve'));

const until = defineWorkflow('until', { version: 1, input: inputOf<{ at: string }>() }, (w) => {
  w.wait('wait', { until: w.input.at });
});
const reviewed = defineWorkflow('reviewed', { version: 1 }, (w) => {
  w.loop({ while: '$.review === null', name: 'loop', keepLastN: 1 }, (w) => {
    w.step('review', review, {}, { optional: true });
  });
});
const forked = defineWorkflow(
  'forked',
  { version: 1, input: inputOf<{ shards: { name: string }[]; stopAt: number }>() },
  (w) => {
    w.loopOver(w.input.shards, (w, { item, count }) => {
      w.fork({
        a: (w) => w.step('one', apply, { shard: item.name }, { permissive: true }),
        b: (w) => w.inline('two', '$.a.map((each) => each.name)', { a: w.input.shards }),
      });
      const script = "$.count === $.stopAt ? 'stop' : 'on'";
      w.switchBy(
        { script, input: { count, stopAt: w.input.stopAt } },
        { stop: (w) => w.terminate({ output: { at: count } }) },
      );
    });
  },
);

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

/** Waits on both clocks until a step runs. */
async function runs(run: RunHandle, step: string): Promise<void> {
  const isRunning = async (): Promise<boolean> => {
    const { steps } = await run.wait({ timeoutMs: 50 });
    return steps.some(({ reference, state }) => reference === step && state === 'running');
  };
  await waitUntil(isRunning, { what: `${step} runs`, timeoutMs: 20_000 });
}

/** Waits until the handler of a step has returned `Later`. */
async function returns(client: TaskClient, run: RunHandle, step: string): Promise<void> {
  await runs(run, step);
  const hasReturned = async (): Promise<boolean> => {
    const { steps } = await run.get();
    const { taskId } = steps.find(({ reference }) => reference === step) ?? {};
    return (await client.tasks.get(taskId ?? '')).reason === 'later';
  };
  await waitUntil(hasReturned, { what: `the handler of ${step} has returned`, timeoutMs: 20_000 });
}

async function approved(run: RunHandle): Promise<RunHandle> {
  await runs(run, 'approve');
  await run.complete('approve', { by: 'ada' });
  return run;
}

type Scenario = (client: TaskClient) => Promise<RunHandle>;

const SCENARIOS: Record<string, Scenario> = {
  succeeds: async (client) => approved(await client.start(release, { shards: ['a', 'bb'] })),
  'stops at a bad shard': async (client) => {
    return approved(await client.start(release, { shards: ['a', 'bad', 'c'] }));
  },
  'has an empty list': async (client) => approved(await client.start(release, { shards: [] })),
  'is failed by a call': async (client) => {
    const run = await client.start(approval);
    await runs(run, 'approve');
    await client.runs.fail(run, 'approve', 'not today');
    return run;
  },
  'is cancelled while it waits': async (client) => {
    const run = await client.start(approval);
    await runs(run, 'approve');
    await run.cancel();
    return run;
  },
  'is paused and resumed': async (client) => {
    const run = await client.start(approval);
    await runs(run, 'approve');
    expect((await run.pause()).status).toBe('paused');
    expect((await run.complete('approve')).counts).toEqual({ succeeded: 1, pending: 1 });
    expect((await run.resume()).status).toBe('running');
    return run;
  },
  'waits in each iteration': async (client) => {
    const run = await client.start(twice);
    for (const step of ['signal__1', 'signal__2']) {
      await runs(run, step);
      await run.complete('signal', step);
    }
    return run;
  },
  'waits for a time in the past': (client) => client.start(until, { at: '2001-01-01' }),
  'waits for what is no time': (client) => client.start(until, { at: 'tomorrow' }),
  'has no list to go over': (client) => {
    return client.start(release, { shards: 7 as never }).then(approved);
  },
  'has a task that a call ends': async (client) => {
    const run = await client.start(reviewed);
    await returns(client, run, 'review__1');
    await run.fail('review', { message: 'no', code: 'bad' });
    await returns(client, run, 'review__2');
    await run.complete('review__2', { ok: true });
    return run;
  },
  'forks in each iteration': (client) => {
    const shards = [{ name: 'a' }, { name: 'bb' }];
    return client.start(forked, { shards, stopAt: 9 });
  },
  'ends in an iteration': (client) => {
    const shards = [{ name: 'a' }, { name: 'bb' }, { name: 'ccc' }];
    return client.start(forked, { shards, stopAt: 2 });
  },
  'has a permissive failure in a loop': (client) => {
    const shards = [{ name: 'bad' }, { name: 'bb' }];
    return client.start(forked, { shards, stopAt: 9 });
  },
  'has a script that fails': (client) => client.start(broken),
  'takes too long': (client) => client.start(short),
};

test.each(Object.entries(SCENARIOS))('a run that %s ends as on a server', async (_, scenario) => {
  const real = await scenario(sluice);
  const simulated = await scenario(new TestSluice(HANDLERS));

  const seen = story(await real.wait());

  expect(story(await simulated.wait())).toEqual(seen);
});

test('a run has the output of its loops and scripts', async () => {
  const run = await approved(await sluice.start(release, { shards: ['a', 'bb'] }));

  expect((await run.wait()).output).toEqual({ by: 'ada', total: 1, rows: 2 });
});

test('the example runs, and asks for each shard', async () => {
  const folderOf = join(import.meta.dirname, '../../examples/database-change');
  const env = { ...process.env, SLUICE_URL: server.url };
  const main = spawn(process.execPath, [join(folderOf, 'main.ts')], { env });
  const lines = createInterface({ input: main.stdout })[Symbol.asyncIterator]();
  try {
    const [id = ''] = /r_\w+/.exec(String((await lines.next()).value)) ?? [];
    for (const step of ['approve__1', 'approve__2']) {
      await runs(sluice.run(id), step);
      const approve = [join(folderOf, 'approve.ts'), id, 'yes'];
      await promisify(execFile)(process.execPath, approve, { env });
    }

    expect((await lines.next()).value).toBe('done: ALTER TABLE users ADD COLUMN email');
  } finally {
    main.kill();
  }
});

const REFUSED: Record<string, (client: TaskClient) => Promise<unknown>> = {
  'a step that is not there': async (client) => (await client.start(approval)).complete('other'),
  'a step that has not begun': async (client) => (await client.start(approval)).complete('apply'),
  'an iteration that has not begun': async (client) => {
    return (await client.start(twice)).complete('signal__2');
  },
  'a loop': async (client) => (await client.start(twice)).complete('loop'),
  'an output that is too large': async (client) => {
    const run = await client.start(approval);
    return run.complete('approve', 'x'.repeat(300_000));
  },
  'an error without a message': async (client) => {
    return (await client.start(approval)).fail('approve', {} as never);
  },
  'a step of a run that has ended': async (client) => {
    const run = await client.start(approval);
    await run.cancel();
    return run.complete('approve');
  },
  'a pause of a run that has ended': async (client) => {
    const run = await client.start(approval);
    await run.cancel();
    return run.pause();
  },
  'a pause of a run that does not exist': (client) => client.runs.pause('r_none'),
  'a step of a run that does not exist': (client) => client.runs.complete('r_none', 'approve'),
  'a script that cannot be read': (client) =>
    client.start(defineWorkflow('unreadable', { version: 1 }, (w) => w.inline('a', 'if ('))),
};

test.each(Object.entries(REFUSED))('%s is refused as by a server', async (_, attempt) => {
  const real = await refusal(attempt(sluice));
  const simulated = await refusal(attempt(new TestSluice(HANDLERS)));

  expect(simulated).toEqual(real);
});
