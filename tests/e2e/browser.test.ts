/**
 * The SDK in a real browser. A page of the same origin is served, a page of another origin is not.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const PAGES = ['index.html', 'foreign.html'];

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' };

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
let shown: PromiseWithResolvers<string>;
const front = createServer((from, to) => void answer(from, to));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-browser-'));
  await build({
    configFile: false,
    root: join(import.meta.dirname, 'page'),
    logLevel: 'error',
    build: {
      outDir: join(folder, 'page'),
      target: 'esnext',
      rolldownOptions: { input: PAGES.map((name) => join(import.meta.dirname, 'page', name)) },
    },
  });
  server = await ServerProcess.startDev(join(folder, 'data'));
  const run = async ({ name }: { name: string }) => `Hello, ${name}`;
  sluice = new Sluice({ url: server.url });
  await sluice.work([defineTask({ type: 'greet', run })], { handleSignals: false });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
});

afterAll(async () => {
  front.close();
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** A front for the server, like a proxy: it serves the files of the page, and forwards the API. */
async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
  const { pathname } = new URL(from.url as string, 'http://front');
  if (pathname.startsWith('/v1/')) return forward(from, to);
  if (pathname === '/shown') {
    shown.resolve((await from.toArray()).join('').trim());
    to.end();
    return;
  }
  const name = pathname === '/' ? '/index.html' : pathname;
  const file = await readFile(join(folder, 'page', name)).catch(() => undefined);
  to.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(name)] ?? '' });
  to.end(file);
}

function forward(from: IncomingMessage, to: ServerResponse): void {
  const { method, headers, url } = from;
  const onward = request(`${server.url}${url}`, { method, headers }, (answered) => {
    to.writeHead(answered.statusCode as number, answered.headers);
    answered.pipe(to);
  });
  onward.on('error', () => to.destroy());
  to.on('close', () => onward.destroy());
  from.pipe(onward);
}

/** The final text of a page. */
async function look(path: string): Promise<string> {
  shown = Promise.withResolvers<string>();
  const { port } = front.address() as AddressInfo;
  const profile = await mkdtemp(join(folder, 'profile-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync'];
  const quiet = ['--disable-background-networking', '--disable-component-update'];
  const browser = spawn(
    'chromium',
    [...flags, ...quiet, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}${path}`],
    { env: { ...process.env, HOME: profile }, stdio: 'ignore', detached: true },
  );
  const ended = once(browser, 'exit').then(([code]) => `the browser ended with ${code}`);
  const text = await Promise.race([shown.promise, ended]);
  // The browser has child processes, so its whole group is killed.
  if (browser.exitCode === null) process.kill(-(browser.pid as number), 'SIGKILL');
  await ended;
  return text;
}

test('a page of the own origin submits tasks, starts a run and shows results', async () => {
  const texts = `Hello, Ädä ${'Hello, '.length + 200_000} 2 true Hello, Eve!`;
  expect(await look('/')).toBe(texts);
});

test('a page of another origin is refused, however it asks', async () => {
  const text = await look(`/foreign.html?server=${encodeURIComponent(server.url)}`);

  // A browser sends no-cors requests to any server. Only the server can refuse them.
  expect(text).toBe('no-cors: opaque, cors: TypeError');
  const listed = await fetch(`${server.url}/v1/tasks?type=planted`);
  expect(await listed.json()).toMatchObject({ items: [] });
});
