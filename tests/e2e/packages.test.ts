import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PackedProject, packPackages, userEnvironment } from '../support/packed-project.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = join(import.meta.dirname, '../..');

const execute = promisify(execFile);

let folder: string;
/** A project with the SDK, and one with the server: each has nothing else of this repository. */
let app: PackedProject;
let host: PackedProject;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-packages-'));
  const tarballs = await packPackages(join(folder, 'packed'));
  [app, host] = await Promise.all([
    PackedProject.install(join(folder, 'app'), tarballs.sdk),
    PackedProject.install(join(folder, 'host'), tarballs.sluice),
  ]);
}, 300_000);

afterAll(async () => {
  for (const server of servers) await server.kill();
  await rm(folder, { recursive: true });
});

const servers: ServerProcess[] = [];

/** Starts a server in its project. It is killed at the end, if it still runs then. */
async function serve(...words: readonly string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start(host.command(...words));
  servers.push(server);
  return server;
}

/** The first block of code in this language on a page. */
async function documented(page: string, language: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const [, code] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(text) ?? [];
  if (code === undefined) throw new Error(`${page} has no code in ${language}`);
  return code;
}

test('in an empty project: serve, run workers, see the result, stop', async () => {
  const data = ['--port', '0', '--data', join(folder, 'data')];
  const server = await serve('npx', 'sluice', 'dev', ...data);
  const env = { SLUICE_URL: server.url };
  await app.write('hello.mjs', await documented('docs/packages.md', 'js'));
  await app.write('hello.ts', await documented('docs/sdk.md', 'ts'));

  const plain = await app.run('node', ['hello.mjs'], env);
  const typed = await app.run('node', ['hello.ts'], env);
  const listed = await host.run('npx', ['sluice', 'task', 'list'], env);
  server.signal('SIGTERM');
  await server.exited();

  expect([plain, typed]).toEqual(['Hello, Ada\n', 'Hello, Ada\n']);
  expect(listed.match(/^t_.* hello .*succeeded/gm)).toHaveLength(2);
  await expectDataAndSnapshot(data);
});

/** The server has the tasks, and the process that makes a snapshot of them works, too. */
async function expectDataAndSnapshot(data: readonly string[]): Promise<void> {
  const flags = [...data, '--snapshot-every-bytes', String(2 ** 20)];
  const server = await serve('node_modules/.bin/sluice', 'server', ...flags);
  const { items } = (await (await fetch(`${server.url}/v1/tasks`)).json()) as { items: unknown[] };
  expect(items).toHaveLength(2);

  const input = 'x'.repeat(200_000);
  const body = JSON.stringify(Array.from({ length: 8 }, () => ({ type: 'large', input })));
  expect((await fetch(`${server.url}/v1/tasks`, { method: 'POST', body })).status).toBe(201);
  const hasSnapshot = async () => {
    const page = await (await fetch(`${server.url}/metrics`)).text();
    return /sluice_snapshots_total\{outcome="saved"\} [1-9]/.test(page);
  };
  await waitUntil(hasSnapshot, { what: 'a snapshot is made', timeoutMs: 30_000 });

  server.signal('SIGTERM');
  expect(await server.exited()).toBe(0);
}

test('the types of the SDK need no other package, and flow', async () => {
  const program = await documented('docs/sdk.md', 'ts');
  const options = { strict: true, module: 'nodenext', target: 'es2024', noEmit: true, types: [] };
  const lib = ['es2024', 'dom'];
  const config = { compilerOptions: { ...options, lib }, include: ['program.ts'] };
  await app.write('tsconfig.json', JSON.stringify(config));
  const check = async (text: string) => {
    await app.write('program.ts', text);
    return app.run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.']);
  };

  expect(await check(program)).toBe('');
  await expect(check(program.replace("name: 'Ada'", 'name: 7'))).rejects.toThrow();
});

interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly commit?: string;
  readonly files: readonly Hashed<{ readonly file: string; readonly sources: Source[] }>[];
}
type Hashed<T> = T & { readonly sha256: string };
type Source = Hashed<{ readonly path: string }>;

async function sha256(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

/** Files of a package that differ from what its list says, or are not in it. */
async function unexplainedFiles(path: string): Promise<string[]> {
  const { files } = JSON.parse(await readFile(join(path, 'BUNDLED.json'), 'utf8')) as Bundled;
  const listed = new Map(files.map((each) => [each.file, each]));
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
  const isUnexplained = async (name: string) => {
    const entry = listed.get(name);
    if (entry === undefined || entry.sha256 !== (await sha256(join(path, name)))) return true;
    const hashes = await Promise.all(entry.sources.map((each) => sha256(join(ROOT, each.path))));
    return entry.sources.length === 0 || hashes.some((hash, n) => hash !== entry.sources[n].sha256);
  };
  const flags = await Promise.all(names.map(isUnexplained));
  return names.filter((_, n) => flags[n]).sort();
}

test('each file of a package is in its list, with its origin', async () => {
  const sdk = join(app.folder, 'node_modules/@sluice/sdk');
  const sluice = join(host.folder, 'node_modules/sluice');
  const before = await Promise.all([sdk, sluice].map(unexplainedFiles));

  await writeFile(join(sdk, 'index.js'), '// changed');
  await writeFile(join(sluice, 'extra.js'), '');

  expect(before).toEqual([['BUNDLED.json'], ['BUNDLED.json']]);
  expect(await unexplainedFiles(sdk)).toEqual(['BUNDLED.json', 'index.js']);
  expect(await unexplainedFiles(sluice)).toEqual(['BUNDLED.json', 'extra.js']);
});

test('both packages have the version of the repository, a licence, and no path of it', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const packages = [
    join(app.folder, 'node_modules/@sluice/sdk'),
    `${host.folder}/node_modules/sluice`,
  ];

  for (const path of packages) {
    const manifest = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    const names = await readdir(path);
    expect(manifest.version).toBe(version);
    expect(names).toEqual(expect.arrayContaining(['LICENSE', 'CHANGELOG.md', 'README.md']));
    const grep = () => execFileSync('grep', ['-rlF', '--', ROOT, path], { encoding: 'utf8' });
    expect(grep).toThrow();
  }
});

test('an old Node is refused with a hint, and a Node beside the package is used', async () => {
  const old = join(folder, 'old');
  await mkdir(old);
  await writeFile(join(old, 'node'), '#!/bin/sh\necho v20.1.0\n');
  await chmod(join(old, 'node'), 0o755);
  const env = userEnvironment([old, '/usr/bin', '/bin'].join(delimiter));
  const sluice = join(host.folder, 'node_modules/.bin/sluice');

  const refused = execute(sluice, ['--version'], { env, cwd: host.folder });

  const version = 'is v20.1.0, but Node.js 24 or later is needed';
  const page = 'install it, or see node_modules/sluice/docs/packages.md for a Node';
  await expect(refused).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${version}; ${page}`),
  });
  await symlink(process.execPath, join(host.folder, 'node_modules/.bin/node'));
  expect((await execute(sluice, ['--version'], { env })).stdout).toMatch(
    /^\d+\.\d+\.\d+(?: \([0-9a-f]{12}(?:-modified)?\))?\n$/,
  );
});
