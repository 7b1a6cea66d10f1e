/** Payloads that try to be more than data, and pages that everybody can use. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemo } from '../../scripts/console-demo.ts';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { seriousProblems } from '../support/serious-problems.ts';
import { ServerProcess } from '../support/server-process.ts';

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
let browser: ConsoleBrowser;
let demo: Awaited<ReturnType<typeof startDemo>>;

const SCRIPT =
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
const BIDI = 'invoice\u202egnp.exe\u2066';
const LONG = 'x'.repeat(10 * 1024 * 1024);

const echo = defineTask({
  type: 'echo',
  async run(input: { text: string }, { log }) {
    await log(input.text.slice(0, 1000));
    return input;
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work([echo], { name: '<b>bold</b>', handleSignals: false });
  demo = await startDemo(server.url);
  browser = await ConsoleBrowser.start();
});

afterAll(async () => {
  await browser.close();
  await demo.close();
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

test('HTML, scripts and turned texts in payloads are shown as texts', async () => {
  const input = { text: SCRIPT, [SCRIPT]: BIDI, svg: `<svg onload="alert(1)">${SCRIPT}</svg>` };
  const task = await sluice.submit('echo', input, { tags: { [SCRIPT]: SCRIPT } });
  await task.result();
  const { page, troubles } = await browser.open(server.url);
  await page.goto(`${server.url}/tasks/${task.id}`);

  const output = page.getByRole('region', { name: 'Output' });
  await output.getByText('onerror=').first().waitFor();
  await output.getByText('invoice\\u{202e}gnp.exe\\u{2066}').waitFor();
  await page.getByRole('log').getByText('onerror=').waitFor();
  expect(await page.title()).not.toBe('owned');
  expect(await page.locator('main script').count()).toBe(0);
  expect(await page.locator('img[onerror], img[src="x"], svg[onload]').count()).toBe(0);
  for (const path of ['/tasks?columns=state,type,tags,input', '/workers', '/dead-letters']) {
    await page.goto(server.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.title()).not.toBe('owned');
  }
  expect(troubles).toEqual([]);
});

test('ten megabytes of text are loaded on demand, a part of them', async () => {
  const task = await sluice.submit('echo', { text: LONG });
  await task.result();
  const { page, troubles } = await browser.open(server.url);
  await page.goto(`${server.url}/tasks/${task.id}`);
  const output = page.getByRole('region', { name: 'Output' });
  await output.getByRole('button', { name: 'Load it' }).click();

  await output.getByRole('button', { name: '10 MiB more' }).waitFor();
  const shown = await output.innerText();
  expect(shown.length).toBeLessThan(5000);
  expect(troubles).toEqual([]);
});

test('no page has a serious problem of accessibility, light or dark, wide or narrow', async () => {
  const pages = [
    '/',
    '/tasks',
    `/tasks/${demo.task}`,
    '/runs',
    `/runs/${demo.run}?step=parts`,
    `/runs/${demo.run}?view=timeline`,
    '/workflows',
    '/workflows/film?version=2&against=1',
    '/schedules',
    '/schedules/nightly-report',
    '/queues',
    '/dead-letters',
    '/workers',
    '/settings',
    '/settings?view=audit',
    '/settings?view=callbacks',
    '/settings?view=about',
  ];
  const found: string[] = [];
  for (const options of [
    { colorScheme: 'light', viewport: { width: 1360, height: 860 } },
    { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
  ] as const) {
    // The policy of the pages lets no script in that does not come from the server.
    const { page } = await browser.open(server.url, { ...options, bypassCSP: true });
    for (const path of pages) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      found.push(...(await seriousProblems(page)).map((problem) => `${path} ${problem}`));
    }
    await page.context().close();
  }
  expect(found).toEqual([]);
});

/** Each dialog: where it is, and what is pressed to open it. */
const DIALOGS: readonly (readonly [string, ...(string | RegExp)[]])[] = [
  ['/tasks', 'Submit a task'],
  ['/tasks?type=send-mail', 'Cancel all that match …'],
  ['/tasks?type=send-mail&state=failed', 'Retry all that match …'],
  ['TASK', 'Copy as …'],
  ['/workflows', 'Write a workflow'],
  ['/workflows/film', 'Write a new version'],
  ['/workflows/film', 'Start a run'],
  ['/schedules', 'Create a schedule'],
  ['/schedules/nightly-report', 'Edit'],
  ['/schedules/nightly-report', 'Backfill'],
  ['/schedules/nightly-report', 'Delete'],
  ['/dead-letters', 'Redrive all …'],
  ['/dead-letters', 'Discard all …'],
  ['/workers', /^Drain /],
  ['/settings', 'Create a key'],
  ['/', /^Jump to/],
];

test('no dialog has a serious problem of accessibility, light or dark', async () => {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await browser.open(server.url, { colorScheme, bypassCSP: true });
    for (const [path, ...names] of DIALOGS) {
      await page.goto(server.url + (path === 'TASK' ? `/tasks/${demo.task}` : path));
      for (const name of names) await page.getByRole('button', { name }).first().click();
      await page.getByRole('dialog').first().waitFor();
      const problems = await seriousProblems(page);
      found.push(...problems.map((problem) => `${path} ${names.join()} ${problem}`));
    }
    await page.context().close();
  }
  expect(found).toEqual([]);
});
