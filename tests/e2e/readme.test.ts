import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = join(import.meta.dirname, '../..');

/** The Node of a new machine: whatever is on PATH outside this repository. */
const SYSTEM_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((entry) => !entry.includes('node_modules'))
  .join(':');

let clone: string;
let server: Shell;

/** One terminal of a reader who copies commands from the README. */
class Shell {
  readonly child: ChildProcess;
  output = '';

  constructor(command: string) {
    const env = { HOME: process.env.HOME, PATH: SYSTEM_PATH };
    this.child = spawn('bash', ['-c', command], { cwd: clone, env, detached: true });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (text: Buffer) => {
        this.output += text.toString();
      });
    }
  }

  async prints(text: string, timeoutMs = 30_000): Promise<void> {
    await waitUntil(() => this.output.includes(text) || this.child.exitCode !== null, {
      what: `a terminal shows '${text}'`,
      timeoutMs,
    });
    expect(this.output).toContain(text);
  }

  async ends(): Promise<void> {
    if (this.child.exitCode === null) await once(this.child, 'close');
  }

  /** Ends the whole process group: the shell and its children. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.pid === undefined) return;
    process.kill(-this.child.pid, 'SIGTERM');
    await this.ends();
  }
}

/** The commands of the README, block by block. */
async function commandBlocks(): Promise<string[]> {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  return [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block);
}

/** Copies the files that git tracks or would track: no packages, no data. */
async function copyRepository(): Promise<void> {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const files = execFileSync('git', listing, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  for (const file of files) {
    await cp(join(ROOT, file), join(clone, file), { recursive: true }).catch(ignoreDeleted);
  }
}

function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'sluice-clone-'));
  await copyRepository();
  const [start] = await commandBlocks();
  expect(start).toBe('npm start\n');
  server = new Shell(start);
  await server.prints('is ready at http://127.0.0.1:7420', 500_000);
  // By then the example has registered its workflow.
  await server.prints('waveform: once more, by hand', 60_000);
}, 560_000);

afterAll(async () => {
  await server.stop();
  await rm(clone, { recursive: true, force: true });
});

test("the README's commands work word for word on a fresh clone", async () => {
  const [, commands, submit, work, report, read] = await commandBlocks();

  const commanding = new Shell(commands);
  await commanding.ends();
  expect(commanding.output).toMatch(/"picture": ".*\.svg"/);
  expect(commanding.output).toMatch(/r_\w+ +waveform/);
  expect(commanding.output).toMatch(/t_\w+ +waveform\.peaks +succeeded/);
  expect(commanding.output).toContain('Sluice at http://127.0.0.1:7420');

  const submitting = new Shell(submit);
  await submitting.ends();
  expect(JSON.parse(submitting.output)).toMatchObject({ state: 'queued' });

  const working = new Shell(work);
  await working.prints('"input":{"name":"Ada"}');

  const reporting = new Shell(report);
  await reporting.ends();
  expect(JSON.parse(reporting.output)).toEqual({ outcomes: ['ok'] });

  const reading = new Shell(read);
  await reading.ends();
  expect(JSON.parse(reading.output)).toMatchObject({ state: 'succeeded', output: 'Hello, Ada' });
  await working.stop();
});

test('the first handler of a reader runs', async () => {
  const text = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [, command] = /`(npx node examples.*)`/.exec(text) ?? [];
  const handling = new Shell(command);
  await handling.ends();

  expect(handling.output).toContain('Hello, Ada');
});

test('the greeting of the server shows commands that work', async () => {
  const submit = /^ +(curl .*\/v1\/tasks .*)$/m.exec(server.output)?.[1] ?? '';

  const submitting = new Shell(submit.replace('curl', 'curl -s'));
  await submitting.ends();

  expect(JSON.parse(submitting.output)).toMatchObject({ deduplicated: false });
});

test('a second start installs nothing again', async () => {
  const second = new Shell('node scripts/install.mjs && echo up to date');
  await second.ends();

  expect(second.output.trim()).toBe('up to date');
});

test('the clone ran on the Node that it brings', () => {
  const pinned = join(clone, 'node_modules/.bin/node');

  expect(execFileSync(pinned, ['--version'], { encoding: 'utf8' })).toMatch(/^v24\./);
  expect(dirname(pinned)).not.toContain(ROOT);
});
