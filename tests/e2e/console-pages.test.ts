/** The main story of each page of the console, in a real browser with real workers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, PermanentFailure, Sluice } from '@sluice/sdk';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConsoleBrowser, type ConsolePage } from '../support/console-browser.ts';
import { ServerProcess } from '../support/server-process.ts';

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
let browser: ConsoleBrowser;
let opened: ConsolePage;
let page: Page;
let isBroken = true;

/** A busy machine takes its time. */
const PATIENCE = { timeout: 60_000 };

const greet = defineTask({
  type: 'greet',
  async run(input: { name: string } | null, { log }) {
    const name = input?.name ?? 'nobody';
    await log(`\u001b[32mgreeting ${name}\u001b[0m`);
    return { text: `Hello, ${name}` };
  },
});

const flaky = defineTask({
  type: 'flaky',
  async run({ n }: { n: number }) {
    if (isBroken) throw new PermanentFailure(`host ${n} is down`);
    return n;
  },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work([greet, flaky], { name: 'greeter', slots: 4, handleSignals: false });
  browser = await ConsoleBrowser.start();
});

afterAll(async () => {
  await browser.close();
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

beforeEach(async () => {
  opened = await browser.open(server.url);
  ({ page } = opened);
});

afterEach(async () => {
  expect(opened.troubles).toEqual([]);
  await page.context().close();
});

function heading(name: string | RegExp) {
  return page.getByRole('heading', { level: 1, name });
}

async function call(method: string, path: string, body: unknown): Promise<void> {
  const response = await fetch(server.url + path, { method, body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBeLessThan(300);
}

async function tasksOf(type: string, state: 'cancelled' | 'succeeded' | 'queued'): Promise<number> {
  let count = 0;
  for await (const _ of sluice.tasks.list({ type, state })) count += 1;
  return count;
}

test('the overview shows what the server does, and what needs somebody', async () => {
  await heading('Overview').waitFor();
  await sluice.submit('nobody-runs-this', {});

  await page.getByText('No worker runs nobody-runs-this, 1 task wait').waitFor();
  await page.getByRole('img', { name: /^Tasks per second/ }).waitFor();
  await page.getByRole('link', { name: 'See the workers' }).click();
  await heading('Workers').waitFor();
});

test('a task that is submitted with the form runs, and its page shows all of it', async () => {
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('button', { name: 'Submit a task' }).click();
  const form = page.getByRole('dialog', { name: 'Submit a task' });
  await form.getByLabel('Type').fill('greet');
  await form.getByLabel('Input').fill('{"name": "Ada"');
  await expect
    .poll(() => form.getByRole('button', { name: 'Submit' }).isDisabled(), PATIENCE)
    .toBe(true);
  await form.getByLabel('Input').fill('{"name": "Ada"}');
  await form.getByRole('button', { name: 'Submit' }).click();

  await heading('greet').waitFor();
  await page.getByText('succeeded').first().waitFor();
  await page.getByRole('region', { name: 'Output' }).getByText('"Hello, Ada"').waitFor();
  await page.getByRole('log').getByText('greeting Ada').waitFor();
  expect(await page.getByRole('log').locator('.ansi-green').count()).toBe(1);
  await page.getByRole('region', { name: 'History' }).getByText('leased').first().waitFor();
});

test('a task that waits says why, and can be cancelled and retried', async () => {
  const task = await sluice.submit('no-worker', { a: 1 });
  await page.goto(`${server.url}/tasks/${task.id}`);

  await page
    .getByRole('region', { name: 'Why isn’t it running?' })
    .getByText(/no worker/i)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Cancel the task' }).click();
  await page.getByRole('button', { name: 'Retry' }).waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
});

test('filters are in the address, and chosen tasks are cancelled together', async () => {
  await sluice.submitMany('bulky', [1, 2, 3], { tags: { lot: '7' } });
  await page.goto(`${server.url}/tasks?type=bulky&tag=lot%3D7`);
  await page.getByText('3 tasks loaded').waitFor();
  await page.getByRole('combobox', { name: 'State' }).selectOption('queued');
  expect(new URL(page.url()).searchParams.get('state')).toBe('queued');

  await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check();
  await page.getByRole('button', { name: 'Cancel 3' }).click();
  await page.getByRole('button', { name: 'Cancel 3 tasks' }).click();

  await page.getByText('No task matches').waitFor();
  expect(await tasksOf('bulky', 'cancelled')).toBe(3);
  await page.getByRole('combobox', { name: 'State' }).selectOption('cancelled');
  await page.getByText('3 tasks loaded').waitFor();
  await page
    .getByRole('checkbox', { name: /^Choose t_/ })
    .first()
    .check();
  await page.getByRole('button', { name: 'Retry 1' }).click();
  await page.getByRole('button', { name: 'Retry 1 task' }).click();
  await page.getByText('Retried 1 task').waitFor();
  await page.getByRole('button', { name: 'Retry all that match …' }).click();
  await page.getByRole('button', { name: 'Retry 2 tasks' }).click();
  await expect.poll(() => tasksOf('bulky', 'queued'), PATIENCE).toBe(3);
});

test('all open tasks that match are counted before they are cancelled', async () => {
  await sluice.submitMany(
    'many',
    Array.from({ length: 25 }, (_, n) => n),
  );
  await page.goto(`${server.url}/tasks?type=many`);

  await page.getByRole('button', { name: 'Cancel all that match …' }).click();
  await page.getByText('25 open tasks match').waitFor();
  await page.getByRole('button', { name: 'Cancel 25 tasks' }).click();

  await page.getByText('Cancelled 25 tasks').waitFor();
});

test('dead letters are grouped by error, and redriven together', async () => {
  const tasks = await sluice.submitMany(flaky, [{ n: 1 }, { n: 2 }, { n: 3 }], {
    retry: { maxAttempts: 1 },
  });
  await Promise.allSettled(tasks.map((task) => task.result()));
  await page.goto(`${server.url}/dead-letters`);
  const row = page.getByRole('row', { name: /host \d is down flaky 3/ });
  await row.waitFor();
  isBroken = false;

  await row.getByRole('button', { name: 'Redrive' }).click();
  await page.getByRole('button', { name: 'Redrive 3 tasks' }).click();

  await page.getByText('No dead letters').waitFor();
  await expect.poll(() => tasksOf('flaky', 'succeeded'), PATIENCE).toBe(3);
});

test('a queue is paused and resumed', async () => {
  await sluice.submit('greet', { name: 'Bob' });
  await page.goto(`${server.url}/queues`);
  await page.getByRole('button', { name: 'Pause greet' }).click();

  await page.getByRole('row', { name: /greet/ }).getByText('paused').waitFor();
  await page.getByRole('button', { name: 'Resume greet' }).click();
  await page.getByRole('button', { name: 'Pause greet' }).waitFor();
});

test('a schedule is created with a preview of its times, fired and paused', async () => {
  await page.goto(`${server.url}/schedules`);
  await page.getByRole('button', { name: 'Create a schedule' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Id').fill('morning');
  await form.getByLabel('Cron pattern').fill('30 8 * * 1-5');
  await form.getByText('at 08:30 on Monday to Friday').waitFor();
  await form.getByLabel('Task type').fill('greet');
  await form.getByText(/Next fires: .*08:30:00/).waitFor();
  await form.getByRole('button', { name: 'Save' }).click();

  await heading('morning').waitFor();
  await page.getByRole('button', { name: 'Trigger now' }).click();
  await page
    .getByRole('region', { name: 'What it made' })
    .getByRole('link', { name: 'task' })
    .waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('link', { name: 'Schedules' }).first().click();
  await page.getByRole('img', { name: /Fires in the next 24 hours/ }).waitFor();
});

test('the form of a schedule has every kind of times and of work', async () => {
  await page.goto(`${server.url}/schedules`);
  await page.getByRole('button', { name: 'Create a schedule' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Id').fill('some-day');
  await form.getByLabel('Task type').fill('greet');
  await form.getByLabel('Fires').selectOption('once');
  await form.getByLabel('At, in your time zone').fill('2030-05-01T10:00:00');
  await form.getByText(/Next fires: .*1 May 2030.*10:00:00/).waitFor();
  await form.getByLabel('Fires').selectOption('delay');
  await form.getByLabel('Seconds after the end').fill('600');
  await form.getByText(/Next fires: /).waitFor();
  await form.getByLabel('Fires').selectOption('permanent');
  await form.getByText('again whenever one ends').waitFor();
  await form.getByLabel('Fires').selectOption('every');
  await form.getByLabel('Seconds between fires').fill('86400');
  await form.getByLabel('Makes').selectOption('exec');
  await form.getByLabel('Program').fill('{"command": ["uptime"]}');
  await form.getByText(/Next fires: /).waitFor();
  await form.getByRole('button', { name: 'Save' }).click();

  await heading('some-day').waitFor();
  await page.getByText('every 1 d').first().waitFor();
});

test('a backfill says how often it will fire', async () => {
  await call('PUT', '/v1/schedules/hourly', {
    spec: { cron: '0 * * * *' },
    task: { type: 'greet' },
  });
  await page.goto(`${server.url}/schedules/hourly`);
  await page.getByRole('button', { name: 'Backfill' }).click();

  await page.getByRole('button', { name: /^Fire 2[345] times$/ }).click();
  await page.getByText(/Backfilling 2[345] times/).waitFor();
});

test('a workflow is written, checked while one types, and started with a form', async () => {
  await page.goto(`${server.url}/workflows`);
  await page.getByRole('button', { name: 'Write a workflow' }).click();
  const editor = page.getByRole('dialog');
  await editor.getByLabel('Name').fill('welcome');
  await editor
    .getByLabel('Definition')
    .fill('{"tasks": [{"taskReferenceName": "a", "type": "NONSENSE"}]}');
  await editor.getByRole('alert').getByText('/tasks/0/type', { exact: true }).waitFor();
  // Its styles come without a `style` element, so that the policy stays strict.
  expect(await editor.locator('.cm-lintRange-error').first().textContent()).toContain('NONSENSE');
  expect(await editor.locator('.cm-lineNumbers').evaluate(widthOf)).toBeGreaterThan(10);
  await editor.getByLabel('Definition').fill('{"tasks": [oops]}');
  await editor.getByRole('status').getByText(/JSON/).waitFor();
  expect(await editor.locator('.cm-lintRange-error').first().textContent()).toContain('o');
  await editor.getByLabel('Definition').fill(WELCOME);
  await editor.getByText('The definition is valid.').waitFor();
  await editor.getByRole('button', { name: 'Register' }).click();

  await heading('welcome').waitFor();
  await page.getByRole('button', { name: 'hello greet' }).waitFor();
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByLabel('name (required)').fill('Eve');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.getByRole('region', { name: 'Output' }).getByText('"Hello, Eve"').waitFor();
});

function widthOf(element: { readonly clientWidth: number }): number {
  return element.clientWidth;
}

const WELCOME = `
tasks:
  - name: greet
    taskReferenceName: hello
    inputParameters: { name: "\${workflow.input.name}" }
inputSchema:
  type: object
  properties: { name: { type: string } }
  required: [name]
`;

test('two versions of a workflow are compared', async () => {
  const step = (name: string) => ({ name: 'greet', taskReferenceName: name });
  await call('PUT', '/v1/workflows/compared/versions/1', { tasks: [step('one')] });
  await call('PUT', '/v1/workflows/compared/versions/2', { tasks: [step('one'), step('two')] });

  await page.goto(`${server.url}/workflows/compared`);
  await page.getByLabel('Compare with').selectOption('1');

  await page
    .getByRole('region', { name: 'Difference' })
    .getByText('+ "taskReferenceName": "two"')
    .waitFor();
});

test('a worker is drained', async () => {
  const other = new Sluice({ url: server.url });
  await other.work([greet], { name: 'leaving', handleSignals: false });
  await page.goto(`${server.url}/workers`);
  await page.getByRole('button', { name: 'Drain leaving' }).click();
  await page.getByRole('button', { name: 'Drain the worker' }).click();

  await page
    .getByRole('row', { name: /leaving/ })
    .getByText('draining')
    .waitFor();
  await other.close();
});

test('the palette jumps to an id, and keys to a page', async () => {
  const task = await sluice.submit('greet', { name: 'Cleo' });
  await heading('Overview').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Page, id/ }).fill(task.id);
  await page.keyboard.press('Enter');

  await heading('greet').waitFor();
  expect(page.url()).toContain(task.id);
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  await heading('Queues').waitFor();
});

test('the workers page shows what is reserved, and what the worker measured', async () => {
  await page.getByRole('link', { name: 'Workers', exact: true }).click();

  const map = page.getByRole('region', { name: 'Table of capacity' });
  const row = map.getByRole('row', { name: /^greeter/ });
  await row.getByText('0 of 4').waitFor();
  await row.getByText('0 used').first().waitFor();
});

test('an address of nothing is a page that says so', async () => {
  await page.goto(`${server.url}/no/such/page`);
  await page.getByText('There is no such page').waitFor();
  await page.goto(`${server.url}/tasks/t_00000000000000000000`);
  await page
    .getByRole('alert')
    .getByText(/no task/)
    .waitFor();
});

test('on a narrow screen the menu opens on demand, and nothing scrolls sideways', async () => {
  await page.setViewportSize({ width: 390, height: 800 });
  await heading('Overview').waitFor();
  expect(await page.getByRole('link', { name: 'Workers', exact: true }).isVisible()).toBe(false);
  for (const name of ['Workers', 'Queues', 'Tasks', 'Schedules', 'Dead letters']) {
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name, exact: true }).click();
    await heading(name).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  }
});

test('older tasks are loaded while one scrolls', async () => {
  await sluice.submitMany(
    'scrolled',
    Array.from({ length: 450 }, (_, n) => n),
  );
  await page.goto(`${server.url}/tasks?type=scrolled`);
  await page.getByText('200 tasks loaded').waitFor();
  const table = page.getByRole('region', { name: 'Table of tasks' });

  await expect
    .poll(async () => {
      await table.evaluate(scrollToEnd);
      return page.getByText('450 tasks loaded').count();
    }, PATIENCE)
    .toBe(1);
  // Rows that are not on the screen are not in the page.
  expect(await table.getByRole('row').count()).toBeLessThan(100);
});

/** Runs in the browser. */
function scrollToEnd(element: unknown): void {
  const { scrollHeight, scrollTo } = element as {
    readonly scrollHeight: number;
    readonly scrollTo: (x: number, y: number) => void;
  };
  scrollTo.call(element, 0, scrollHeight);
}
