import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { consolePages } from './console-pages.ts';

const HTML = { accept: 'text/html,*/*' };

let folder: string;
let app: FastifyInstance;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-pages-'));
  await mkdir(path.join(folder, 'assets'));
  await writeFile(path.join(folder, 'index.html'), '<p>console</p>');
  await writeFile(path.join(folder, 'assets/main-abc.js'), 'run()');
  await writeFile(path.join(folder, 'assets/main-abc.js.br'), 'brotli');
  await writeFile(path.join(folder, 'sources.sha256'), 'secret');
  app = Fastify();
  consolePages(app, folder);
  app.get('/', async () => ({ name: 'sluice' }));
});

afterEach(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

test('an address that a person opens is a page of the console, with a strict policy', async () => {
  for (const url of ['/', '/tasks', '/runs/r_1?view=timeline', '/no/such/page']) {
    const answer = await app.inject({ url, headers: HTML });
    expect([url, answer.statusCode, answer.body]).toEqual([url, 200, '<p>console</p>']);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['content-security-policy']).not.toContain('unsafe');
    expect(answer.headers['cache-control']).toBe('no-cache');
  }
});

test('the API is never a page, whatever the client accepts', async () => {
  for (const url of ['/v1/tasks', '/v1', '/health/ready', '/metrics', '/openapi.json']) {
    expect((await app.inject({ url, headers: HTML })).statusCode).toBe(404);
  }
});

test('clients that do not ask for a page get the API at the root', async () => {
  expect((await app.inject({ url: '/' })).json()).toEqual({ name: 'sluice' });
  expect((await app.inject({ url: '/tasks' })).statusCode).toBe(404);
});

test('hashed files are cached for ever, and compressed for those who take it', async () => {
  const url = '/assets/main-abc.js';

  const plain = await app.inject({ url });
  const small = await app.inject({ url, headers: { 'accept-encoding': 'gzip, br;q=0.8' } });
  const none = await app.inject({ url, headers: { 'accept-encoding': 'br;q=0' } });

  expect(plain.body).toBe('run()');
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  });
  expect([small.body, small.headers['content-encoding']]).toEqual(['brotli', 'br']);
  expect([none.body, none.headers['content-encoding']]).toEqual(['run()', undefined]);
});

test('a client that has the page already gets no second copy', async () => {
  const { headers } = await app.inject({ url: '/', headers: HTML });
  const again = { ...HTML, 'if-none-match': String(headers.etag) };

  const answer = await app.inject({ url: '/', headers: again });

  expect([answer.statusCode, answer.body]).toEqual([304, '']);
});

test('only files of the console are served', async () => {
  for (const url of ['/sources.sha256', '/../secret', '/%2e%2e/secret', '/assets/']) {
    expect((await app.inject({ url })).statusCode).toBe(404);
  }
});

test('a console that was not built says how to build it', async () => {
  await rm(path.join(folder, 'index.html'));

  const answer = await app.inject({ url: '/', headers: HTML });

  expect(answer.statusCode).toBe(503);
  expect(answer.body).toContain('scripts/build-console.ts');
});
