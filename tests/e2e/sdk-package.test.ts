import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');

/** The user's Node: whatever is on PATH outside this repository. */
const SYSTEM_PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((entry) => !entry.includes('node_modules'))
  .join(':');

/** A program as a user writes it. */
const PROGRAM = `
import { defineTask, type TaskHandle } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';

const hello = defineTask({
  type: 'hello',
  retry: { maxAttempts: 3 },
  async run(input: { name: string }, { attempt, log }) {
    await log('attempt ' + attempt);
    if (attempt < 3) throw new Error('boom');
    return { text: 'Hello, ' + input.name };
  },
});

const sluice = new TestSluice([hello]);
const task: TaskHandle<{ text: string }> = await sluice.submit(hello, { name: 'Ada' }, { delayMs: 86_400_000 });
const { text } = await task.result();
console.log(text, sluice.logOf(task.id).length);
`;

/** The same program without types, for a Node that does not know them. */
const PLAIN_PROGRAM = PROGRAM.replace(', type TaskHandle', '')
  .replace(': TaskHandle<{ text: string }>', '')
  .replace(': { name: string }', '');

let folder: string;
let app: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-package-'));
  app = join(folder, 'app');
  await mkdir(app);
  await writeFile(
    join(app, 'package.json'),
    '{ "name": "app", "private": true, "type": "module" }',
  );
  const dist = join(folder, 'dist');
  const env = { ...process.env, PATH: `${BIN}:${SYSTEM_PATH}` };
  execFileSync('node', [join(ROOT, 'scripts/build-sdk.ts'), dist], { env });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: dist, env });
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

/** Runs a command in the user's folder, with the user's Node. */
function run(command: string, ...args: string[]): string {
  const env = { HOME: process.env.HOME, PATH: SYSTEM_PATH };
  return execFileSync(command, args, { cwd: app, env, encoding: 'utf8' });
}

async function sizeOf(path: string): Promise<number> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((file) => stat(join(file.parentPath, file.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`;
}

test('installs nothing but itself, and its size and time are told', async () => {
  const [tarball] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  const { size } = await stat(join(folder, tarball));

  const startedAt = performance.now();
  run('npm', 'install', '--offline', '--ignore-scripts', '--no-audit', join(folder, tarball));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);

  const modules = join(app, 'node_modules');
  const installed = (await readdir(modules)).filter((name) => !name.startsWith('.'));
  expect(installed).toEqual(['@sluice']);
  expect(await readdir(join(modules, '@sluice'))).toEqual(['sdk']);
  const unpacked = await sizeOf(modules);
  console.log(`@sluice/sdk: ${kilobytes(size)} packed, ${kilobytes(unpacked)} on disk`);
  console.log(`@sluice/sdk: installed in ${seconds} s with 0 dependencies`);
});

test("runs on the system's Node, 20 or later", async () => {
  await writeFile(join(app, 'program.mjs'), PLAIN_PROGRAM);

  const version = run('node', '--version').trim();
  const output = run('node', 'program.mjs');

  console.log(`@sluice/sdk: runs on Node ${version}`);
  expect(output).toBe('Hello, Ada 3\n');
});

test('its types are whole, and flow', async () => {
  const options = {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    noEmit: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  };
  const config = { compilerOptions: options, include: ['program.ts'] };
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify(config));
  const check = () => execFileSync(join(BIN, 'tsc'), ['-p', '.'], { cwd: app, encoding: 'utf8' });
  await writeFile(join(app, 'program.ts'), PROGRAM);

  expect(check()).toBe('');
  await writeFile(join(app, 'program.ts'), PROGRAM.replace("name: 'Ada'", 'name: 7'));
  expect(check).toThrow();
});

test('a bundler for browsers takes an entry without Node in it', async () => {
  await writeFile(join(app, 'page.js'), "export { Sluice } from '@sluice/sdk';");

  await build({
    configFile: false,
    root: app,
    logLevel: 'error',
    build: {
      outDir: 'page',
      assetsDir: '',
      rolldownOptions: { input: join(app, 'page.js'), preserveEntrySignatures: 'strict' },
    },
  });

  const [name] = await readdir(join(app, 'page'));
  const text = await readFile(join(app, 'page', name), 'utf8');
  console.log(`@sluice/sdk: ${kilobytes(text.length)} minified in a page`);
  expect(text).toContain('fetch(');
  expect(text).not.toMatch(/node:|__vite-browser-external|process\./);
});
