/** The files in deploy/ and the commands of docs/production.md that no other test runs. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';

const ROOT = join(import.meta.dirname, '../..');
const UNIT = join(ROOT, 'deploy/systemd/sluice.service');
const BACKUP = join(ROOT, 'deploy/backup/sluice-backup');
const BIN = join(ROOT, 'packages/cli/bin');
const TIME = /^\d{4}-\d\d-\d\dT\d{6}Z$/;

const execute = promisify(execFile);

let folder: string;
let server: ServerProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterEach(async () => {
  await server?.kill();
  server = undefined;
  await rm(folder, { recursive: true });
});

/** The block of the page that contains this text. */
async function documented(language: string, text: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/production.md'), 'utf8');
  const blocks = Array.from(page.matchAll(/```(\w+)\n(.*?)```/gs), ([, kind, code]) => {
    return { kind, code };
  });
  const found = blocks.find(({ kind, code }) => kind === language && code.includes(text));
  if (found === undefined) throw new Error(`the page has no ${language} with '${text}'`);
  return found.code;
}

/** The unit, as it is or changed, with a command that exists on this machine. */
async function writeUnit(change: (text: string) => string = (text) => text): Promise<string> {
  const text = await readFile(UNIT, 'utf8');
  const file = join(folder, 'sluice.service');
  await writeFile(file, change(text).replace('/opt/sluice/node_modules/.bin', BIN));
  return file;
}

test('the certificate for a test names its hosts, and others cannot read its key', async () => {
  const commands = await documented('sh', 'openssl req');
  const here = commands
    .replaceAll('sudo ', '')
    .replaceAll('/etc/sluice', folder)
    .replace(/^chown .*$/m, '');

  await execute('bash', ['-ec', here]);

  const certificate = join(folder, 'sluice.crt');
  for (const check of [
    ['-checkhost', 'sluice.example'],
    ['-checkip', '127.0.0.1'],
  ]) {
    const { stdout } = await execute('openssl', ['x509', '-in', certificate, '-noout', ...check]);
    expect(stdout).toContain('does match certificate');
  }
  expect((await stat(join(folder, 'sluice.key'))).mode & 0o777).toBe(0o640);
});

test('systemd finds no problem in the unit', async () => {
  const verify = (file: string) => execute('systemd-analyze', ['verify', file]);

  expect(await verify(await writeUnit())).toEqual({ stdout: '', stderr: '' });
  const misspelt = await writeUnit((text) => text.replace('KillMode=', 'KilMode='));
  expect((await verify(misspelt)).stderr).toMatch(/Unknown key .*'KilMode'/);
});

test('the unit leaves the server few rights', async () => {
  const flags = ['security', '--offline=true', '--threshold=20', '--no-pager'];
  const assess = async (file: string) => execute('systemd-analyze', [...flags, file]);

  await assess(await writeUnit());
  const open = await writeUnit((text) => text.replace(/^(Protect|Restrict|System).*$/gm, ''));
  await expect(assess(open)).rejects.toThrow();
});

test('both process managers wait longer than the server takes to stop', async () => {
  const unit = await readFile(UNIT, 'utf8');
  const compose = await readFile(join(ROOT, 'deploy/docker/compose.yaml'), 'utf8');
  const { stdout } = await runSluice(['server', '--print-config']);
  const [, drainMs] = /^drainMs: (\d+)/m.exec(stdout) ?? [];
  // The server closes its files within two seconds after that.
  const longestMs = Number(drainMs) + 2000;

  const [, unitSeconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  const [, composeSeconds] = /stop_grace_period: (\d+)s/.exec(compose) ?? [];

  expect(Number(unitSeconds) * 1000).toBeGreaterThan(longestMs);
  expect(Number(composeSeconds) * 1000).toBeGreaterThan(longestMs);
});

test('the configuration of the page is valid', async () => {
  const file = join(folder, 'sluice.yaml');
  await writeFile(file, await documented('yaml', 'allowedHosts'));

  const printed = await runSluice(['server', '--print-config', '--config', file]);

  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toContain('certFile: /etc/sluice/sluice.crt');
});

/** A server with a key and a task. */
async function startServer(): Promise<Record<string, string>> {
  const data = join(folder, 'data');
  const created = await runSluice(['key', 'create', '--role', 'admin', '--data', data]);
  const [key = ''] = /slk_\w+/.exec(created.stdout) ?? [];
  server = await ServerProcess.startServer(data);
  const env = { SLUICE_URL: server.url, SLUICE_API_KEY: key };
  await runSluice(['task', 'submit', 'mail'], env);
  return { ...process.env, ...env, PATH: `${BIN}:${process.env.PATH}` };
}

test('the nightly backup can be restored, and replaces the oldest', async () => {
  const env = await startServer();
  const backups = join(folder, 'backups');
  for (const old of ['2020-01-01T031500Z', '2020-01-02T031500Z', 'before-upgrade']) {
    await mkdir(join(backups, old), { recursive: true });
  }

  await execute(BACKUP, [backups, '2'], { env });

  const kept = await readdir(backups);
  const [oldest, newest, ...others] = kept.filter((name) => TIME.test(name)).sort();
  expect([oldest, others]).toEqual(['2020-01-02T031500Z', []]);
  expect(kept.sort()).toEqual([oldest, newest, 'before-upgrade']);
  const drilled = await drill(join(backups, newest), env);
  expect(drilled).toMatch(/^t_\w+ +mail +queued/m);
});

/** The drill of the page, without its last line: the shell ends anyway. */
async function drill(backup: string, env: Record<string, string>): Promise<string> {
  const text = await documented('sh', 'unshare --net');
  const [enter, ...lines] = text
    .replace(/SLUICE_API_KEY=\S+/, '')
    .replace(/\/var\/backups\/\S+/, backup)
    .replaceAll('/tmp/drill', join(folder, 'drill'))
    .trim()
    .split('\n');
  expect([enter, lines.at(-1)]).toEqual(['sudo unshare --net sh', 'exit']);
  const script = [...lines.slice(0, -1), 'wait'].join('\n');
  return (await execute('unshare', ['--net', 'sh', '-euc', script], { env })).stdout;
}

test('a backup that fails removes nothing, and says why', async () => {
  const backups = join(folder, 'backups');
  await mkdir(join(backups, '2020-01-01T031500Z'), { recursive: true });
  const env = { ...process.env, SLUICE_URL: 'http://127.0.0.1:1' };
  const backup = (...args: string[]) => execute(BACKUP, args, { env });

  await expect(backup(backups, '1')).rejects.toMatchObject({ code: 3 });
  await expect(backup(backups, '0')).rejects.toMatchObject({
    code: 2,
    stderr: "sluice-backup: KEEP is a number of backups from 1 on, not '0'\n",
  });
  await expect(backup()).rejects.toMatchObject({ code: 2 });
  expect(await readdir(backups)).toEqual(['2020-01-01T031500Z']);
});
