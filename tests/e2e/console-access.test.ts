/** Who may see and do what in the console. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { ConsoleBrowser, type ConsolePage } from '../support/console-browser.ts';
import { KeyedApi } from '../support/keyed-api.ts';
import { seriousProblems } from '../support/serious-problems.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';

let folder: string;
let server: ServerProcess;
let browser: ConsoleBrowser;
let admin: KeyedApi;
let task: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  server = await ServerProcess.startDev(folder);
  const nobody = new KeyedApi(server.url);
  admin = nobody.as(await nobody.keyFor('admin', 'default'));
  const { body } = await admin.post('/v1/tasks', { type: 'waiting', input: { secret: 'plans' } });
  task = body.id as string;
  browser = await ConsoleBrowser.start();
});

afterAll(async () => {
  await browser.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function logIn(key: string, path = '/'): Promise<ConsolePage> {
  const opened = await browser.open(server.url);
  const { page } = opened;
  await page.goto(server.url + path);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  return opened;
}

test('a wrong key is refused, and nothing is shown before the log-in', async () => {
  const { page } = await logIn(`slk_${'0'.repeat(20)}_${'0'.repeat(64)}`, `/tasks/${task}`);

  await page
    .getByRole('alert')
    .getByText(/not a key of this server/)
    .waitFor();
  expect(await page.content()).not.toContain('plans');
});

test('the log-in has no serious problem of accessibility, light or dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await browser.open(server.url, { colorScheme, bypassCSP: true });
    await page.getByLabel('API key').waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    await page.getByLabel('API key').fill('no key');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.context().close();
  }
});

test('the key is in a cookie that scripts cannot read, and nowhere else', async () => {
  const { page, troubles } = await logIn(admin.key as string, `/tasks/${task}`);
  await page.getByRole('heading', { level: 1, name: 'waiting' }).waitFor();

  const [cookie, ...others] = await page.context().cookies(`${server.url}/v1/tasks`);
  expect(others).toEqual([]);
  expect(cookie).toMatchObject({
    value: admin.key,
    httpOnly: true,
    sameSite: 'Strict',
    path: '/v1',
  });
  const seen = await page.evaluate(
    'document.cookie + JSON.stringify(localStorage) + location.href',
  );
  expect(seen).not.toContain('slk_');
  expect(troubles).toEqual([]);

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('API key').waitFor();
  expect(await page.context().cookies(`${server.url}/v1/tasks`)).toEqual([]);
});

test('a page of another port of the same machine cannot use the cookie', async () => {
  const { page } = await logIn(admin.key as string);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const cookies = await page.context().cookies(`${server.url}/v1/tasks`);
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');

  for (const site of ['same-site', 'cross-site']) {
    const headers = { cookie, 'sec-fetch-site': site };
    const { status } = await fetch(`${server.url}/v1/tasks`, { headers });
    expect([401, 403]).toContain(status);
  }
  const post = { method: 'POST', headers: { cookie }, body: '{"type":"planted"}' };
  expect((await fetch(`${server.url}/v1/tasks`, post)).status).toBe(401);
});

test('a viewer sees everything and is offered nothing that changes it', async () => {
  const { page, troubles } = await logIn(await admin.keyFor('viewer', 'default'), `/tasks/${task}`);
  await page.getByRole('heading', { level: 1, name: 'waiting' }).waitFor();
  await page.getByRole('region', { name: 'Input' }).getByText('"plans"').waitFor();

  for (const name of ['Cancel', 'Pause', 'Priority']) {
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  }
  expect(await page.getByRole('link', { name: 'Settings' }).count()).toBe(0);
  for (const [path, button] of [
    ['/tasks', 'Submit a task'],
    ['/schedules', 'Create a schedule'],
    ['/workflows', 'Write a workflow'],
    ['/queues', 'Pause waiting'],
  ]) {
    await page.goto(server.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('button', { name: button }).count()).toBe(0);
  }
  expect(troubles).toEqual([]);
});

test('a namespace of others is not shown', async () => {
  const { page } = await logIn(await admin.keyFor('admin', 'elsewhere'), '/tasks');
  await page.getByText('No tasks yet').waitFor();
  await page.goto(`${server.url}/tasks/${task}`);
  await page
    .getByRole('alert')
    .getByText(/no task/)
    .waitFor();
  await page.goto(server.url);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByText('Nothing has happened yet').waitFor();
});

test('a key that ends while it is used leads to the log-in, with the reason', async () => {
  const { body } = await admin.post('/v1/keys', { role: 'viewer', name: 'short' });
  const { page } = await logIn(body.key, '/tasks');
  await page.getByText('1 task loaded').waitFor();

  await admin.call({ method: 'DELETE', path: `/v1/keys/${body.id}` });

  await page
    .getByRole('alert')
    .getByText(/You are not logged in: this is not a key/)
    .waitFor();
  await page.getByLabel('API key').fill(admin.key as string);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('1 task loaded').waitFor();
});

test('a new key is shown once, and the audit trail knows who made it', async () => {
  const { page, troubles } = await logIn(admin.key as string, '/settings');
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('for the studio');
  await page.getByLabel('Role').selectOption('worker');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const text = await page.getByRole('dialog').getByText(/^slk_/).innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();

  await page
    .getByRole('row', { name: /for the studio/ })
    .getByText('worker')
    .waitFor();
  expect(await page.content()).not.toContain(text);
  expect((await admin.as(text).get('/v1/login')).body).toMatchObject({ roles: ['worker'] });
  await page.getByRole('tab', { name: 'Audit trail' }).click();
  await page.getByLabel('Action').fill('key_created');
  await page
    .getByRole('row', { name: /key created/ })
    .first()
    .waitFor();
  expect(troubles).toEqual([]);
});

test('whoever creates the first key sees it, and stays logged in', async () => {
  const fresh = await ServerProcess.startDev(join(folder, 'fresh'));
  const { page, troubles } = await browser.open(`${fresh.url}`);
  await page.goto(`${fresh.url}/settings`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();

  const text = await page.getByRole('dialog').getByText(/^slk_/).innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByText('yours').waitFor();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  expect((await fetch(`${fresh.url}/v1/tasks`)).status).toBe(401);
  expect((await new KeyedApi(fresh.url, text).get('/v1/tasks')).status).toBe(200);
  expect(troubles).toEqual([]);
  await page.context().close();
  await fresh.kill();
});

test('a key that may only work is told so', async () => {
  const { page } = await logIn(await admin.keyFor('worker', 'default'));

  await page
    .getByRole('alert')
    .getByText(/role worker may not read/)
    .waitFor();
});

test('over TLS the cookie is only sent over TLS, and lists are live over HTTP/2', async () => {
  const { certFile, keyFile } = makeCertificate(folder, 'console');
  const flags = ['--tls-cert-file', certFile, '--tls-key-file', keyFile];
  const data = join(folder, 'tls');
  const created = await runSluice(['key', 'create', '--role', 'admin', '--data', data]);
  const [key] = /slk_\w+/.exec(created.stdout) as RegExpExecArray;
  const secure = await ServerProcess.startServer(data, ...flags);
  const { page, troubles } = await browser.open(secure.url, { ignoreHTTPSErrors: true });
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Live', { exact: true }).waitFor();

  const [cookie] = await page.context().cookies(`${secure.url}/v1/tasks`);
  expect(cookie).toMatchObject({ secure: true, httpOnly: true });
  expect(await page.evaluate(PROTOCOL)).toBe('h2');
  expect(troubles).toEqual([]);
  await page.context().close();
  await secure.kill();
});

const PROTOCOL = "performance.getEntriesByType('navigation')[0].nextHopProtocol";
