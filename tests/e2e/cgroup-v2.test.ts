/**
 * Groups of the second version on a real mount. A machine that has its controllers in the first
 * version offers none of them there, so whether limits hold is not tested: only what is written,
 * and what needs no controller.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll } from '../../packages/agent/src/commands/end-processes.ts';
import { CgroupV2 } from '../../packages/agent/src/host/cgroup-v2.ts';

const execute = promisify(execFile);

let root: string;
let agent: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-cgroup2-'));
  await execute('mount', ['-t', 'cgroup2', 'none', root]);
  agent = join(root, `sluice-test-${process.pid}`);
  await mkdir(agent);
});

afterAll(async () => {
  await execute('umount', [root]);
  await rm(root, { recursive: true });
});

test('a process that joins a group is found, measured and killed, and the group goes', async () => {
  const groups = new CgroupV2(agent);
  await mkdir(join(agent, 'attempt'));
  const group = groups.open('attempt');
  const program = spawn('sh', ['-c', 'sleep 600 & wait'], { stdio: 'ignore' });
  const exited = once(program, 'exit');
  for (const file of group.joinFiles) await writeFile(file, String(program.pid));

  const pids = await group.pids();
  const { cpuMs } = await group.usage();
  const isGone = await killAll(group, 0);
  await exited;
  const before = await groups.names();
  await group.remove();
  await groups.dispose();

  expect(pids).toContain(program.pid);
  expect(cpuMs).toBeGreaterThanOrEqual(0);
  expect(isGone).toBe(true);
  expect(before).toEqual(['attempt']);
  expect(await readdir(root)).not.toContain(`sluice-test-${process.pid}`);
});

test('groups without the controllers for cpu, memory and processes are not used', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-no-controllers-'));
  await writeFile(join(folder, 'cgroup.controllers'), 'hugetlb\n');

  const found = await CgroupV2.find('agent', folder);

  expect(found).toBeUndefined();
  await rm(folder, { recursive: true });
});

test('cores become a ceiling and a weight, within what the kernel takes', async () => {
  // An ordinary folder: a machine whose controllers are in the first version takes none of this.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-limits-'));
  const groups = new CgroupV2(folder);
  const read = (group: string, file: string) => readFile(join(folder, group, file), 'utf8');

  for (const cpu of [0.001, 0.5, 200]) await groups.make(`${cpu}`, { cpu, pids: 9 });

  expect(await read('0.5', 'cpu.max')).toBe('50000 100000');
  const weights = ['0.001', '0.5', '200'].map((group) => read(group, 'cpu.weight'));
  expect(await Promise.all(weights)).toEqual(['1', '50', '10000']);
  await rm(folder, { recursive: true });
});
