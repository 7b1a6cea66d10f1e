/** `sluice schedule`, as people type it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAUNCHER = join(ROOT, 'packages/cli/bin/sluice');

const WAIT = { timeout: 20_000 };

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startServer(join(folder, 'data'));
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

beforeEach(() => mkdir(join(folder, 'schedules')));

afterEach(async () => {
  await rm(join(folder, 'schedules'), { recursive: true });
  for (const id of await listed()) await api.delete(`/v1/schedules/${id}`);
});

interface Ended {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

function started(file: string, args: readonly string[]): Promise<Ended> {
  const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
  const options = { cwd: folder, env: { ...process.env, PATH: path, SLUICE_URL: server.url } };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

function schedule(...args: string[]): Promise<Ended> {
  return started(LAUNCHER, ['schedule', ...args]);
}

async function listed(): Promise<string[]> {
  const { items } = (await api.get('/v1/schedules')).body;
  return items.map(({ id }: { id: string }) => id).toSorted();
}

const NIGHTLY = ['--cron', '0 3 * * *', '--time-zone', 'Europe/Berlin', '--type', 'report'];

test('put says what it did and when it fires next, in both zones', async () => {
  const dry = await schedule('put', 'nightly', ...NIGHTLY, '--dry-run');
  expect(dry.stdout).toContain('would create nightly: task report, 0 3 * * * Europe/Berlin');
  expect(dry.stdout).toMatch(/ 03:00:00 \+0[12]:00 {2}\d{4}-\d\d-\d\dT0[12]:00:00Z {2}in \d/);
  expect((await schedule('list')).stderr).toContain('no schedules;');

  const put = await schedule('put', 'nightly', ...NIGHTLY, '--tag', 'team=data');
  expect([put.code, put.stdout]).toEqual([0, expect.stringContaining('created nightly:')]);
  const again = await schedule('put', 'nightly', ...NIGHTLY, '--tag', 'team=data');
  expect(again.stdout).toContain('did not change nightly:');
  const { stdout } = await schedule('put', 'nightly', ...NIGHTLY, '--jitter', '5s', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ change: 'replaced', nextFires: { length: 5 } });

  const unheard = await schedule('put', 'poll', '--every', '1h', '--type', 'unheard');
  expect(unheard.stderr).toContain("no tasks and no workers of the type 'unheard' yet");
  const run = await schedule('put', 'mail', '--every', '1h', '--workflow', 'mial', '--paused');
  expect(run.stderr).toContain("the workflow 'mial' is not registered");
  expect(run.stdout).toContain("paused; 'sluice schedule resume mail' starts it");
});

test.each([
  [['--cron', '0 0 30 2 *', '--type', 'a'], 1, '--cron cannot be read: there is no day 30'],
  [['--cron', '0 3 * *', '--type', 'a'], 1, 'it has 4 fields; it needs 5'],
  [['--cron', '@daily', '--time-zone', 'Mars/X', '--type', 'a'], 1, '--time-zone'],
  [['--every', '50ms', '--type', 'a'], 1, '--every is below 100ms; set --allow-fast'],
  [['--at', 'tomorrow', '--type', 'a'], 1, '--at must be a time such as'],
  [['--cron', '@daily', '--type', 'a', '--to', '2020-01-01T00:00:00Z'], 1, 'never fire'],
  [['--cron', '@daily', '--type', 'a b'], 1, '--type must be 1 to 128 letters'],
  [['--permanent', '--replicas', '0', '--type', 'a'], 1, '--replicas must be'],
  [['--cron', '@daily', '--every', '5s', '--type', 'a'], 2, 'exclude each other'],
  [['--type', 'a'], 2, 'the times are missing'],
  [['--file', 'none.json'], 2, 'none.json: ENOENT'],
])('put with %j is refused with %i: %s', async (flags, code, message) => {
  const refused = await schedule('put', 'x', ...flags);

  expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  expect(await listed()).toEqual([]);
});

test('files are planned and applied, all of them or none, and twice changes nothing', async () => {
  const write = (name: string, value: unknown) =>
    writeFile(join(folder, 'schedules', name), JSON.stringify(value));
  const daily = { spec: { cron: '@daily' }, task: { type: 'a' } };
  await api.put('/v1/schedules/other', { ...daily, tags: { team: 'web' } });
  await api.put('/v1/schedules/old', { ...daily, tags: { team: 'data' } });
  await write('one.json', { id: 'one', ...daily });
  await write('two.yaml', [{ id: 'two', spec: { everyMs: 60_000 }, run: { workflow: 'w' } }]);
  await write('dots.json', { id: '..', ...daily });
  await write('bad.json', { id: 'bad', ...daily, spec: { cron: '0 0 30 2 *' } });

  const refused = await schedule('apply', 'schedules');
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^bad +refused +- +- +schedules\/bad.json/m);
  expect(refused.stderr).toContain(
    'schedules/bad.json: bad: the schedule is not valid: /spec/cron',
  );
  expect(refused.stderr).toContain("schedules/dots.json: ..: no address can have the id '..'");
  expect(refused.stderr).toContain('nothing was changed');
  expect(await listed()).toEqual(['old', 'other']);

  await rm(join(folder, 'schedules/bad.json'));
  await rm(join(folder, 'schedules/dots.json'));
  const plan = await schedule('apply', 'schedules', '--dry-run');
  expect([plan.code, plan.stderr]).toEqual([0, 'plan: 2 new\n']);
  expect(plan.stdout).toMatch(/^two +new +every 1m +run w +schedules\/two.yaml/m);
  expect(await listed()).toEqual(['old', 'other']);

  expect((await schedule('apply', 'schedules')).stderr).toBe('2 new\n');
  expect((await schedule('apply', 'schedules')).stderr).toBe('2 unchanged\n');
  await write('one.json', { id: 'one', ...daily, jitterMs: 5 });
  const deleting = ['--delete-missing', '--tag', 'team=data'];
  const dry = await schedule('apply', 'schedules', ...deleting, '--dry-run');
  expect(dry.stdout).toMatch(/^old +deleted/m);
  const last = await schedule('apply', 'schedules', ...deleting, '--json');
  expect(JSON.parse(last.stdout).items).toMatchObject([
    { id: 'one', change: 'changed' },
    { id: 'two', change: 'unchanged' },
    { id: 'old', change: 'deleted', file: null },
  ]);
  expect(await listed()).toEqual(['one', 'other', 'two']);
});

test('more schedules than a batch takes are applied and deleted', async () => {
  const spec = { cron: '@daily' };
  const many = Array.from({ length: 1100 }, (_, n) => ({ id: `s${n}`, spec, task: { type: 'a' } }));
  const file = join(folder, 'schedules', 'many.json');
  await writeFile(file, JSON.stringify({ schedules: many }));

  expect((await schedule('apply', file)).stderr).toBe('1100 new\n');
  expect((await schedule('list')).stderr).toContain('there are more; use --limit');
  await writeFile(file, JSON.stringify(many.slice(0, 1)));
  const last = await schedule('apply', file, '--delete-missing');
  expect(last.stderr).toBe('1 unchanged, 1099 deleted\n');
  expect(await listed()).toEqual(['s0']);
});

test('a schedule is listed, shown, paused, fired, and deleted', async () => {
  await schedule('put', 'nightly', ...NIGHTLY, '--tag', 'team=data');
  await schedule('put', 'always', '--permanent', '--replicas', '2', '--type', 'daemon');

  const row = /^nightly +active +0 3 \* \* \* Europe\/Berlin +in .* - +0 +task report$/m;
  expect((await schedule('list', '--tag', 'team=data')).stdout).toMatch(row);
  expect((await schedule('list', '--search', 'alw')).stdout).toMatch(/^always .*2 replicas/m);
  expect((await schedule('list', '--type', 'none')).stderr).toBe('no schedules match\n');
  expect((await schedule('list', '--state', 'pausd')).stderr).toContain("did you mean 'paused'?");
  expect((await schedule('fires', 'nightly')).stderr).toContain('no fires;');

  expect((await schedule('pause', 'nightly')).stdout).toContain('nightly is paused');
  expect((await schedule('explain', 'nightly')).stdout).toContain('it is paused since');
  const fired = (await schedule('trigger', 'nightly')).stdout.trim();
  await vi.waitFor(async () => {
    expect((await schedule('fires', 'nightly')).stdout).toContain(`queued  -     ${fired}`);
  }, WAIT);
  const shown = (await schedule('get', 'nightly')).stdout;
  expect(shown).toMatch(/^state +paused$/m);
  expect(shown).toContain('next fires if it is resumed\nEurope/Berlin');
  expect(shown).toContain('last fires\n');
  const { stdout: json } = await schedule('get', 'nightly', '--json');
  expect(JSON.parse(json)).toMatchObject({ lastFires: [{ taskId: fired }], fireCount: 1 });
  expect((await schedule('resume', 'nightly')).stdout).toContain('is active: task report');

  const after = ['--count', '2', '--after', '2026-03-28T12:00:00Z'];
  const { stdout: times } = await schedule('preview', 'nightly', ...after);
  expect(times).toContain('Sun 2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00Z');
  expect((await schedule('preview', 'always')).stderr).toContain('no further times');
  expect((await schedule('trigger', 'always')).stderr).toContain('is permanent');
  expect(await schedule('get', 'nigthly')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("did you mean 'nightly'?"),
  });
  expect((await schedule('delete', '..')).stderr).toContain("no address can have the id '..'");
  expect((await schedule('delete', 'always')).stderr).toBe('deleted always\n');
  expect(await schedule('delete', 'always')).toMatchObject({ code: 1 });
});

test('a backfill is counted, started and stopped', async () => {
  await schedule('put', 'nightly', ...NIGHTLY);
  const range = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-04T00:00:00Z'];

  const { stdout } = await schedule('backfill', 'nightly', ...range, '--dry-run');
  expect(stdout).toContain('would fire nightly at 3 times, from 2026-01-01T02:00:00Z to');
  const none = [range[0], range[1], '--to', '2026-01-01T00:30:00Z'];
  expect((await schedule('backfill', 'nightly', ...none)).stdout).toContain('has no time in');
  const slow = await schedule('backfill', 'nightly', ...range, '--rate', '0.001');
  expect(slow.stdout).toContain('firing nightly at 3 times');
  expect((await schedule('backfill', 'nightly', ...range)).stderr).toContain('backfill_running');
  expect((await schedule('get', 'nightly')).stdout).toMatch(/^backfill +[01] done/m);
  expect((await schedule('backfill', 'nightly', '--stop')).code).toBe(0);
  expect((await schedule('get', 'nightly')).stdout).not.toContain('backfill');

  const bad = await schedule('backfill', 'nightly', '--from', 'x', '--to', 'y');
  expect(bad.stderr).toContain('--from must be a time such as');
  expect(await schedule('backfill', 'nightly')).toMatchObject({ code: 2 });
  expect(await schedule('backfill', 'nightly', '--stop', '--rate', '5')).toMatchObject({ code: 2 });
});

test('the commands and the file of docs/schedules.md work as they stand there', async () => {
  const page = await readFile(join(ROOT, 'docs/schedules.md'), 'utf8');
  const commands = [...page.matchAll(/^sluice schedule .*$/gm)].map(([command]) => command);
  const [, yaml = ''] = /```yaml\n# schedules\/data.yaml\n(.*?)```/s.exec(page) ?? [];
  await writeFile(join(folder, 'schedules/data.yaml'), yaml);

  expect(commands).toHaveLength(17);
  for (const command of commands) {
    const { code, stderr } = await started('sh', ['-c', command.replace('sluice', LAUNCHER)]);
    expect(code, `${command}: ${stderr}`).toBe(0);
  }

  expect(await listed()).toEqual(['clean-up', 'consumer', 'nightly-report', 'poll']);
});
