/** Commands on a host without control groups, with real processes. */
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandResult, CommandRun } from '../../packages/agent/src/commands/command-run.ts';
import { PipePool } from '../../packages/agent/src/host/pipe-pool.ts';
import { MARK, Rlimits } from '../../packages/agent/src/host/rlimits.ts';
import { findUser, type HostUser, ownUser } from '../../packages/agent/src/host/users.ts';
import { AttemptFolder } from '../../packages/agent/src/host/work-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const WAIT_MS = 60_000;

let folder: string;
let pipes: PipePool;
let user: HostUser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rlimits-'));
  // The user of the commands passes through it.
  await chmod(folder, 0o711);
  pipes = await PipePool.open(folder);
  user = (await findUser('nobody')) ?? ownUser();
});

afterAll(async () => {
  await pipes.close();
  await rm(folder, { recursive: true });
});

interface Begun {
  readonly lines: string[];
  readonly ended: Promise<CommandResult>;
}

/** Runs a script as the agent does. `name` marks its processes. */
async function begin(
  name: string,
  script: string,
  { memoryMb = 0, stop = new AbortController().signal } = {},
): Promise<Begun> {
  const attempt = new AttemptFolder(folder, name);
  await attempt.make(user, null, pipes);
  const lines: string[] = [];
  const plan = {
    name,
    taskId: 't_1',
    attempt: 1,
    argv: ['sh', '-c', script],
    env: {},
    cwd: undefined,
    stdin: '',
    user,
    hostVariables: {},
    killGraceMs: () => 100,
    limits: { memoryMb, pids: 50, diskMb: 100 },
  };
  const ports = {
    groups: new Rlimits(),
    log: (line: string) => lines.push(line),
    onWritten: () => undefined,
  };
  return { lines, ended: new CommandRun(plan, attempt, ports).run(stop) };
}

/** Titles of the processes that have this in their arguments or their environment. */
async function processesOf(mark: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = (pid: string, file: string) => {
    return readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '');
  };
  const found = await Promise.all(
    pids.map(async (pid) => {
      const title = await read(pid, 'cmdline');
      return `${title} ${await read(pid, 'environ')}`.includes(mark) ? [title] : [];
    }),
  );
  return found.flat();
}

test('what is not enforced is said', () => {
  expect(new Rlimits().losses).toEqual([
    'cpu is not limited',
    'memory is limited for each process, not for all of a task together',
    'the number of processes of a task is not limited',
    'a process that clears its environment and goes into the background may outlive its task',
    'the CPU time and the memory that a task used are not measured',
  ]);
});

test('a process that needs more memory than its limit fails, and less is enough', async () => {
  const script = 'head -c 200m /dev/zero | tail > /dev/null';
  const small = await begin('rlimits-small', script, { memoryMb: 40 });
  const large = await begin('rlimits-large', script, { memoryMb: 1000 });

  const [failed, succeeded] = [await small.ended, await large.ended];

  expect(failed.exitCode).toBeGreaterThan(0);
  expect(failed.lastErrors.join()).toMatch(/memory/);
  expect(succeeded).toMatchObject({ exitCode: 0, wasOutOfMemory: false });
});

test('a cancelled command that ignores SIGTERM leaves nothing, in no session', async () => {
  const name = 'rlimits-cancelled';
  const stop = new AbortController();
  const daemon = 'setsid sh -c "trap : TERM; while :; do sleep 974.5; done" >/dev/null 2>&1 &';
  const script = `trap "" TERM; ${daemon} echo up; sleep 975.5; sleep 975.5`;
  const { lines, ended } = await begin(name, script, { stop: stop.signal });
  const sleeps = async () => {
    const titles = await processesOf(name);
    return ['974.5', '975.5'].every((time) => titles.includes(`sleep\0${time}\0`));
  };
  await waitUntil(sleeps, { what: 'both of its parts run', timeoutMs: WAIT_MS });

  stop.abort();
  const { exitCode } = await ended;

  expect(lines).toEqual(['up']);
  expect(exitCode).toBeGreaterThan(128);
  expect(await processesOf(name)).toEqual([]);
});

test('what a command leaves in the background is ended with it', async () => {
  const name = 'rlimits-background';
  const { ended } = await begin(name, 'setsid sleep 973.5 >/dev/null 2>&1 & exit 3');

  expect(await ended).toMatchObject({ exitCode: 3 });
  expect(await processesOf(name)).toEqual([]);
});

test('a process that begins one program after the other is found at any time', async () => {
  const name = 'rlimits-execs';
  const script = '[ "$1" -gt 0 ] || exit 0; exec sh -c "$2" sh $(($1 - 1)) "$2"';
  const child = spawn('sh', ['-c', script, 'sh', '500', script], { env: { [MARK]: name } });
  const group = new Rlimits().open(name);
  const isThere = () => {
    return readlink(`/proc/${child.pid}/exe`).then(
      () => true,
      () => false,
    );
  };
  const seen: boolean[] = [];
  for (;;) {
    const pids = await group.pids();
    if (!(await isThere())) break;
    seen.push(pids.includes(child.pid ?? 0));
  }

  expect(seen.length).toBeGreaterThan(0);
  expect(seen).not.toContain(false);
});
