/** `sluice exec` while its command runs: what it prints when, Ctrl-C, and the time-out. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerWithAgent } from '../support/server-with-agent.ts';
import { waitUntil } from '../support/wait-until.ts';

const LAUNCHER = join(import.meta.dirname, '../../packages/cli/bin/sluice');
const WAIT_MS = 60_000;
const CTRL_C = '\u0003';

let host: ServerWithAgent;

beforeAll(async () => {
  host = await ServerWithAgent.start();
});

afterAll(() => host.close());

/** A `sluice exec` that runs. */
class Typed {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;
  stdout = '';
  stderr = '';

  constructor(file: string, args: readonly string[]) {
    const env = { ...process.env, TERM: 'xterm', SLUICE_URL: host.url };
    this.child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.code = new Promise((resolve) => this.child.once('close', resolve));
  }

  /** With pipes, as in a script. */
  static piped(...args: readonly string[]): Typed {
    const typed = new Typed(LAUNCHER, ['exec', ...args]);
    typed.child.stdin?.end();
    return typed;
  }

  /** On a terminal, where both streams are one. */
  static onTerminal(...args: readonly string[]): Typed {
    const words = ['exec', ...args].map((word) => `'${word}'`).join(' ');
    return new Typed('script', ['-qec', `${LAUNCHER} ${words}`, '/dev/null']);
  }

  press(key: string): void {
    this.child.stdin?.write(key);
  }

  async says(what: RegExp | string): Promise<void> {
    const has = () => `${this.stdout}\n${this.stderr}`.match(what) !== null;
    await waitUntil(has, { what: `it says ${what}`, timeoutMs: WAIT_MS }).catch((cause) => {
      throw new Error(`it said:\n${this.stdout}\n${this.stderr}`, { cause });
    });
  }
}

/** A script that goes on until a file is there. */
async function gate(): Promise<{ waits: string; open: (element?: string) => Promise<void> }> {
  const folder = await mkdtemp(join(host.folder, 'gate-'));
  await chmod(folder, 0o755);
  const file = join(folder, 'go');
  return {
    waits: `while [ ! -e "${file}$0" ]; do sleep 0.1; done`,
    open: (element = 'sh') => writeFile(`${file}${element}`, ''),
  };
}

/** The only task of this name. */
async function task(name: string) {
  const { body } = await host.api.get(`/v1/tasks?tag.name=${name}`);
  expect(body.items).toHaveLength(1);
  return body.items[0];
}

async function hasEnded(name: string): Promise<boolean> {
  return !['leased', 'running'].includes((await task(name)).state);
}

async function ended(name: string) {
  const { id } = await task(name);
  return (await host.api.get(`/v1/tasks/${id}/wait?timeoutMs=${WAIT_MS}`)).body;
}

test('a line is printed while the command still runs', async () => {
  const { waits, open } = await gate();
  const typed = Typed.piped('--tag', 'name=line', '--', 'sh', '-c', `echo one; ${waits}; echo two`);

  await typed.says('one\n');
  expect(typed.stdout).toBe('one\n');
  expect(await hasEnded('line')).toBe(false);
  await open();

  expect(await typed.code).toBe(0);
  expect(typed.stdout).toBe('one\ntwo\n');
});

test('a command that prints nothing says where it runs', async () => {
  const { waits, open } = await gate();
  const typed = Typed.piped('--tag', 'name=quiet', '--', 'sh', '-c', waits);
  const { body } = await host.api.get('/v1/workers');
  const [{ name }] = body.items;

  await typed.says(`runs on ${name}\n`);
  const { id } = await task('quiet');
  await open();

  expect(await typed.code).toBe(0);
  expect(typed).toMatchObject({ stdout: '', stderr: `${id} runs on ${name}\n` });
});

test('a command that takes longer than --timeout has timed out', async () => {
  const typed = Typed.piped('--tag', 'name=late', '--timeout', '1s', '--', 'sleep', '60');

  expect(await typed.code).toBe(1);
  expect(typed.stderr).toContain('the command timed_out');
  expect(await ended('late')).toMatchObject({ state: 'timed_out', attempt: 1 });
});

test('without a terminal the first signal cancels the command', async () => {
  const typed = Typed.piped('--tag', 'name=script', '--', 'sh', '-c', 'echo up; sleep 600');
  await typed.says('up\n');

  typed.child.kill('SIGINT');

  expect(await typed.code).toBe(130);
  expect(typed.stderr).not.toContain('press Ctrl-C again');
  expect(await ended('script')).toMatchObject({ state: 'cancelled' });
});

test('on a terminal the first Ctrl-C asks, and the second cancels', async () => {
  const { waits, open } = await gate();
  const script = `echo up; ${waits}; echo still here; sleep 600`;
  const typed = Typed.onTerminal('--tag', 'name=twice', '--', 'sh', '-c', script);
  await typed.says('up');

  typed.press(CTRL_C);
  await typed.says(/press Ctrl-C again to cancel t_\w+; until then it goes on/);
  await open();
  await typed.says('still here');
  expect(await hasEnded('twice')).toBe(false);
  typed.press(CTRL_C);

  expect(await typed.code).toBe(130);
  expect(typed.stdout).toContain('the command is cancelled');
  expect(await ended('twice')).toMatchObject({ state: 'cancelled' });
});

test('the third Ctrl-C does not wait for a command that does not end', async () => {
  const { waits, open } = await gate();
  const script = `trap "" TERM; echo up; ${waits}`;
  const typed = Typed.onTerminal('--tag', 'name=thrice', '--', 'sh', '-c', script);
  await typed.says('up');

  typed.press(CTRL_C);
  await typed.says('press Ctrl-C again');
  typed.press(CTRL_C);
  await typed.says('signal again to leave it');
  typed.press(CTRL_C);

  expect(await typed.code).toBe(130);
  expect(typed.stdout).not.toContain('the command is');
  expect(await hasEnded('thrice')).toBe(false);
  await open();
  expect(await ended('thrice')).toMatchObject({ state: 'cancelled' });
});

test('an array shows its progress on a terminal, and asks before it cancels', async () => {
  const { waits, open } = await gate();
  const flags = ['--array', 'a,b,c', '--tag', 'name=array'];
  const typed = Typed.onTerminal(...flags, '--', 'sh', '-c', waits, '{}');

  await typed.says('0 of 3 done \\(0 %\\)');
  await open('b');
  await typed.says('1 of 3 done \\(33 %\\)');
  typed.press(CTRL_C);
  await typed.says('press Ctrl-C again to cancel all commands that have not ended');
  await open('a');
  await typed.says('2 of 3 done \\(66 %\\)');
  typed.press(CTRL_C);

  expect(await typed.code).toBe(130);
  expect(typed.stdout).toContain('1 command is cancelled');
  const { body } = await host.api.get('/v1/tasks?tag.name=array');
  const states = body.items.map(({ state }: { state: string }) => state);
  expect(states.filter((state: string) => state === 'succeeded')).toHaveLength(2);
});
