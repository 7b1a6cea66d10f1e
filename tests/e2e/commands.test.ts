import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function run(file: string, args: readonly string[], env: object = {}, input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, SLUICE_URL: server.url, ...env } };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

function sluice(...args: string[]): Promise<Ended> {
  return run(LAUNCHER, args);
}

/** Takes every task of a type and ends it as `answer` says. */
async function work(type: string, answer: (input: unknown) => object): Promise<SessionUnderTest> {
  const session = new SessionUnderTest(server.url, 'http1', {
    name: 'cli-worker',
    types: [{ type }],
  });
  const { sessionId } = await session.welcomed();
  void (async () => {
    for (;;) {
      const { lease, input } = await session.takeTask();
      await api.report(sessionId, [{ lease, ...answer(input) }]);
    }
  })();
  return session;
}

describe('start', () => {
  test('compiled code is kept for the next start, also of a server that is killed', async () => {
    const XDG_CACHE_HOME = join(folder, 'cache');
    const killed = await ServerProcess.startDev(join(folder, 'killed'), { XDG_CACHE_HOME });
    const kept = () => readdir(XDG_CACHE_HOME, { recursive: true });
    const what = 'compiled code is kept';
    await waitUntil(async () => (await kept()).length > 20, { what, timeoutMs: 30_000 });
    await killed.kill();

    const { code, stdout } = await run(LAUNCHER, ['--version'], { XDG_CACHE_HOME });

    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+\.\d+\.\d+ \([0-9a-f]{12}\)\n$/),
    ]);
  });

  test('where it cannot be kept, commands run all the same', async () => {
    const file = join(folder, 'no-folder');
    await writeFile(file, '');

    const { code, stderr } = await run(LAUNCHER, ['task', 'list'], { XDG_CACHE_HOME: file });

    expect([code, stderr]).toEqual([0, 'no tasks\n']);
  });
});

describe('task submit', () => {
  test('prints the id, and what was said is with the task', async () => {
    const { code, stdout } = await sluice(
      ...['task', 'submit', 'said', '--input', '{"n": 1}', '-p', '8', '--delay', '1h'],
      ...['--tag', 'a=b', '--tag', 'c=d=e', '--max-attempts', '9', '--run-timeout', '5m'],
    );

    expect(code).toBe(0);
    expect(stdout).toMatch(/^t_[0-9a-v]{20}\n$/);
    const { body } = await api.get(`/v1/tasks/${stdout.trim()}`);
    expect(body).toMatchObject({
      input: { n: 1 },
      priority: 8,
      state: 'waiting',
      tags: { a: 'b', c: 'd=e' },
      retry: { maxAttempts: 9 },
      timeouts: { runMs: 300_000 },
    });
  });

  test('takes the input from a file, or from a pipe', async () => {
    const file = join(folder, 'input.json');
    await writeFile(file, '["from a file"]');
    const first = await sluice('task', 'submit', 'piped', '--input', `@${file}`);
    const second = await run(LAUNCHER, ['task', 'submit', 'piped', '--input', '-'], {}, '"piped"');

    const inputs = await Promise.all(
      [first, second].map(async ({ stdout }) => {
        return (await api.get(`/v1/tasks/${stdout.trim()}`)).body.input;
      }),
    );
    expect(inputs).toEqual([['from a file'], 'piped']);
  });

  test('with --wait prints the output, and fails as the task does', async () => {
    const session = await work('waited', (input) => {
      if (input === 'good') return { kind: 'succeeded', output: { all: 'well' } };
      return { kind: 'failed', error: { message: 'no such file' }, retryable: false };
    });
    const good = await sluice('task', 'submit', 'waited', '--input', '"good"', '--wait');
    const bad = await sluice('task', 'submit', 'waited', '--wait');
    session.disconnect();

    expect(good).toMatchObject({ code: 0, stdout: '{\n  "all": "well"\n}\n' });
    expect(bad).toMatchObject({ code: 1, stdout: '' });
    expect(bad.stderr).toContain('the task failed: no such file');
  });

  test('a wait that is over before the task says so, and how to go on', async () => {
    const id = (await sluice('task', 'submit', 'nobody-takes-it')).stdout.trim();

    const waited = await sluice('task', 'wait', id, '--timeout', '1ms');

    expect(waited.code).toBe(1);
    expect(waited.stdout).toContain(id);
    expect(waited.stderr).toContain('the task has not ended yet; it is queued');
    expect(waited.stderr).toContain(`'sluice task wait ${id}' waits on`);
  });

  test('what the server refuses is said in its words', async () => {
    const { code, stderr } = await sluice('task', 'submit', 'no/type', '--priority', '9');
    expect(code).toBe(1);
    expect(stderr).toContain('/type');
    expect(stderr).toContain('/priority');
    expect(stderr).toContain('invalid_request');
  });
});

test('a queue that nobody uses can be paused, with a word of warning', async () => {
  await sluice('task', 'submit', 'pausable');

  const known = await sluice('queue', 'pause', 'pausable');
  const unknown = await sluice('queue', 'pause', 'pausabel');
  const resumed = await sluice('queue', 'resume', 'nosuch');

  expect([known.code, known.stderr]).toEqual([0, '']);
  expect(unknown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^pausabel .*paused/m) });
  expect(unknown.stderr).toContain("there are no tasks and no workers of the type 'pausabel' yet");
  expect(unknown.stderr).toContain("did you mean 'pausable'?");
  expect(resumed.stderr).toContain("no tasks and no workers of the type 'nosuch' yet");
});

test('update changes a task that waits, and needs something to change', async () => {
  const submit = [
    'task',
    'submit',
    'updated',
    '--delay',
    '1d',
    '-i',
    '{"n":1,"m":2}',
    '--tag',
    'a=b',
  ];
  const id = (await sluice(...submit)).stdout.trim();

  const change = ['--priority', '8', '--input', '{"m":null}', '--tag', 'c=d', '--untag', 'a'];
  const updated = await sluice('task', 'update', id, ...change, '--run-at', 'now', '--json');

  expect(JSON.parse(updated.stdout)).toMatchObject({
    id,
    state: 'queued',
    priority: 8,
    input: { n: 1 },
    tags: { c: 'd' },
  });
  expect(await sluice('task', 'update', id)).toMatchObject({ code: 2 });
});

describe('what can be wrong', () => {
  test.each([
    [['task', 'submit'], "'sluice task submit' needs TYPE"],
    [['task', 'sbmit'], "unknown command 'task sbmit'; did you mean 'task submit'?"],
    [['task', 'submit', 'x', '--input', 'Ada'], `--input '"Ada"'`],
    [['task', 'submit', 'x', '--input', '{"n":1e400}'], 'at /n that a double cannot hold exactly'],
    [['task', 'submit', 'x', '--input', '@/no/such/file'], 'cannot read --input'],
    [['task', 'submit', 'x', '--delay', 'soon'], '--delay must be a time such as'],
    [['task', 'submit', 'x', '--tag', 'a'], '--tag must be NAME=VALUE'],
    [['task', 'list', '--tpye', 'x'], 'unknown flag --tpye; did you mean --type?'],
    [['task', 'cancel'], 'needs ids, or filters'],
    [['queue', 'pause', 'a', 'b'], "unexpected argument 'b'"],
    [['dead-letter', 'discard'], 'needs --type TYPE, --fingerprint F or --all'],
    [['completion', 'tcsh'], "no completion for 'tcsh'"],
    [['task', 'list', '--limit', '0'], '--limit must be greater than 0'],
    [['task', 'logs', 't_1', '--limit', '0'], '--limit must be greater than 0'],
    [['dead-letter', 'list', '--limit', '0'], '--limit must be greater than 0'],
  ])('sluice %j is a usage error with a hint', async (args, message) => {
    const { code, stdout, stderr } = await sluice(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('no server at all is exit code 3, with the way out', async () => {
    const { code, stderr } = await run(LAUNCHER, ['queue', 'list'], {
      SLUICE_URL: 'http://127.0.0.1:9,http://127.0.0.1:19',
    });
    expect(code).toBe(3);
    expect(stderr).toContain('sluice dev');
  });

  test('of several addresses the first that answers is asked', async () => {
    const { code } = await run(LAUNCHER, ['queue', 'list'], {
      SLUICE_URL: `http://127.0.0.1:19,${server.url}`,
    });
    expect(code).toBe(0);
  });
});

describe('looking', () => {
  test('tasks are listed, shown and explained; --json is for programs', async () => {
    const { body } = await api.post('/v1/tasks', { type: 'seen', tags: { a: 'b' } });
    const list = await sluice('task', 'list', '--type', 'seen', '--tag', 'a=b');
    const json = await sluice('task', 'list', '--type', 'seen', '--json');
    const explained = await sluice('task', 'explain', body.id);
    const shown = await sluice('task', 'get', body.id);

    expect(list.stdout).toMatch(new RegExp(`^ID.*\n${body.id} +seen +queued`));
    expect(JSON.parse(json.stdout).items).toMatchObject([{ id: body.id }]);
    expect(explained.stdout).toContain('no_worker_for_type');
    expect(shown.stdout).toMatch(/state +queued \(submitted\)/);
    // Output to a program has no colours.
    expect(shown.stdout).not.toContain('\u001b');
  });

  test('nothing to list is said, not shown as an empty table', async () => {
    const { code, stdout, stderr } = await sluice('task', 'list', '--type', 'nobody-has-this');
    expect([code, stdout, stderr]).toEqual([0, '', 'no tasks\n']);
  });

  test('top shows queues and workers', async () => {
    await api.post('/v1/tasks', { type: 'watched' });
    const { stdout } = await sluice('top');
    expect(stdout).toMatch(/Sluice at http/);
    expect(stdout).toMatch(/watched +1 /);
    const { queues, workers, failed } = JSON.parse((await sluice('top', '--json')).stdout);
    expect(queues).toContainEqual(expect.objectContaining({ type: 'watched', depth: 1 }));
    expect([workers, failed].every(Array.isArray)).toBe(true);
  });

  test('top draws on a terminal until it is stopped, and leaves the screen as it was', async () => {
    const command = `timeout -s INT 3 ${LAUNCHER} top --every 200ms`;
    const { stdout } = await run('script', ['-qec', command, '/dev/null'], { TERM: 'xterm' });
    expect(stdout).toContain('\u001b[?1049h');
    expect(stdout).toContain('dead letters');
    expect(stdout.trimEnd().endsWith('\u001b[?1049l')).toBe(true);
  });

  test('the log is printed as JSON lines, without payloads and secrets', async () => {
    await api.post('/v1/tasks', { type: 'logged', input: 'confidential' });
    const dump = await sluice('log', 'dump', '--data', folder);
    const whole = await sluice('log', 'dump', '--data', folder, '--payloads');

    const events = dump.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({
      type: 'task_submitted',
      id: expect.stringMatching(/^t_/),
      taskType: 'logged',
    });
    expect(dump.stdout).not.toContain('confidential');
    expect(dump.stdout).not.toMatch(/"s_/);
    expect(whole.stdout).toContain('"confidential"');
  });
});

describe('changing', () => {
  test('cancel by id and by filter, retry, pause and resume', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await api.post('/v1/tasks', { type: 'changed' })).body.id),
    );
    expect((await sluice('task', 'pause', ids[0])).stdout).toMatch(/state +paused/);
    expect((await sluice('task', 'resume', ids[0])).stdout).toMatch(/state +queued/);
    expect((await sluice('task', 'cancel', ids[0])).stdout).toBe(`${ids[0]}  cancelled\n`);
    expect((await sluice('task', 'retry', ids[0])).stdout).toMatch(/state +queued \(retried\)/);
    const dry = await sluice('task', 'cancel', '--type', 'changed', '--dry-run');
    expect(dry.stdout).toBe('3 tasks: 0 cancelled\n');
    const all = await sluice('task', 'cancel', '--type', 'changed');
    expect(all.stdout).toBe('3 tasks: 3 cancelled\n');
    expect((await sluice('task', 'cancel', 't_no')).code).toBe(1);
  });

  test('only a submit of a type that nobody knows says what to do', async () => {
    await api.put('/v1/task-types/registered-type', { priority: 5 });

    const unknown = await sluice('task', 'submit', 'tpyo');
    const registered = await sluice('task', 'submit', 'registered-type');
    const later = await sluice('task', 'submit', 'tpyo', '--delay', '1h');
    const json = await sluice('task', 'submit', 'tpyo', '--json');

    expect(unknown.stdout).toMatch(/^t_\w+\n$/);
    expect(unknown.stderr).toBe(
      "sluice: the type 'tpyo' is not registered, and no worker for it is connected: " +
        'start one, or check the name\n',
    );
    expect([registered, later, json].map(({ code, stderr }) => [code, stderr])).toEqual(
      Array.from({ length: 3 }, () => [0, '']),
    );
  });

  test('a retry with another input, which the history shows', async () => {
    const { body } = await api.post('/v1/tasks', { type: 'changed', input: { n: 'bad' } });
    await sluice('task', 'cancel', body.id);

    const retried = await sluice('task', 'retry', body.id, '--input', '{"n": "good"}');

    expect(retried.stdout).toMatch(/input +\{"n":"good"\}/);
    const { stdout } = await sluice('task', 'history', body.id);
    expect(stdout).toMatch(/ INPUT BEFORE$/m);
    expect(stdout).toMatch(/ retried .*\{"n":"bad"\}$/m);
    const wrong = await sluice('task', 'retry', body.id, '--input', 'good');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--input is not JSON')]);
  });

  test('queues rest and go on, dead letters run again, workers drain', async () => {
    expect((await sluice('queue', 'pause', 'q')).stdout).toContain('paused');
    expect((await sluice('queue', 'resume', 'q')).stdout).not.toContain('paused');
    const { body } = await api.post('/v1/tasks', { type: 'q' });
    await api.post(`/v1/tasks/${body.id}/fail`, { error: { message: 'broken pipe' } });
    expect((await sluice('dead-letter', 'list', '--type', 'q')).stdout).toContain('broken pipe');
    const redriven = await sluice('dead-letter', 'redrive', '--type', 'q', '--rate', '0.001');
    expect(redriven.stdout).toMatch(/^d_\d+: 1 dead letters run again/);
    const redrive = redriven.stdout.split(':')[0];
    const { stdout } = await sluice('dead-letter', 'redrives');
    expect(stdout).toMatch(new RegExp(`^${redrive} +q +0.001 +\\d`, 'm'));
    expect((await sluice('dead-letter', 'stop-redrive', redrive)).stdout).toBe(
      `stopped ${redrive}\n`,
    );
    const again = await sluice('dead-letter', 'stop-redrive', redrive);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('redrive_not_found')]);
    expect((await sluice('dead-letter', 'redrives')).stderr).toBe('no redrives\n');

    const session = await work('drains', () => ({ kind: 'succeeded' }));
    const workers = JSON.parse((await sluice('worker', 'list', '--json')).stdout).items;
    const { id } = workers.find((each: { types: { type: string }[] }) => {
      return each.types[0].type === 'drains';
    });
    expect((await sluice('worker', 'drain', id)).stdout).toContain('draining');
    session.disconnect();
  });
});

test('bash completes commands and flags', async () => {
  const script = `
    source <(${LAUNCHER} completion bash)
    complete_line() {
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _sluice; echo "\${COMPREPLY[@]}"
    }
    complete_line sluice ta
    complete_line sluice task re
    complete_line sluice task list --st
    complete_line sluice task get t_1 --j`;
  const { stdout } = await run('bash', ['-c', script]);

  expect(stdout).toBe('task\nretry resume\n--state\n--json\n');
});
