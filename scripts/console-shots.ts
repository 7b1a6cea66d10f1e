/**
 * Pictures of every page of the console, light and dark, wide and narrow, with demo data.
 *
 *   npm run console:shots [-- FOLDER]      default: dist/console-shots
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ServerProcess } from '../tests/support/server-process.ts';
import { buildConsole } from './build-console.ts';
import { startDemo } from './console-demo.ts';
import { ROOT } from './package-folder.ts';

const SIZES = { wide: { width: 1360, height: 860 }, narrow: { width: 390, height: 844 } } as const;
const THEMES = ['light', 'dark'] as const;

const folder = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist/console-shots'));

function pagesOf({
  run,
  task,
}: {
  readonly run: string;
  readonly task: string;
}): Record<string, string> {
  return {
    overview: '/',
    tasks: '/tasks',
    task: `/tasks/${task}`,
    runs: '/runs',
    run: `/runs/${run}?step=parts`,
    timeline: `/runs/${run}?view=timeline`,
    workflows: '/workflows',
    workflow: '/workflows/film?version=2&against=1',
    schedules: '/schedules',
    schedule: '/schedules/nightly-report',
    queues: '/queues',
    'dead-letters': '/dead-letters',
    workers: '/workers',
    keys: '/settings',
    audit: '/settings?view=audit',
    about: '/settings?view=about',
  };
}

/** Dialogs, each with the page and the button that opens it. */
const DIALOGS: Readonly<Record<string, readonly [string, string]>> = {
  'dialog-submit': ['/tasks?type=transcode', 'Submit a task'],
  'dialog-schedule': ['/schedules', 'Create a schedule'],
  'dialog-workflow': ['/workflows/film', 'Write a new version'],
  'dialog-start': ['/workflows/film', 'Start a run'],
  'dialog-redrive': ['/dead-letters', 'Redrive all …'],
  'dialog-key': ['/settings', 'Create a key'],
};

async function shoot(browser: Browser, url: string, pages: Record<string, string>): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of THEMES) {
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      for (const [name, address] of Object.entries(pages)) {
        await page.goto(url + address);
        await take(page, `${name}-${size}-${colorScheme}`, size === 'narrow');
      }
      for (const [name, [address, button]] of Object.entries(DIALOGS)) {
        await page.goto(url + address);
        await page.getByRole('button', { name: button }).click();
        await take(page, `${name}-${size}-${colorScheme}`, false);
      }
      await page.goto(url);
      await page.keyboard.press('Control+k');
      await take(page, `palette-${size}-${colorScheme}`, false);
      await context.close();
    }
  }
}

async function take(page: Page, name: string, fullPage: boolean): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  // Lists and charts have had an answer, and lazy parts are there.
  await page.waitForTimeout(700);
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage });
}

await buildConsole();
await mkdir(folder, { recursive: true });
const data = await mkdtemp(path.join(tmpdir(), 'sluice-shots-'));
const server = await ServerProcess.startDev(data);
const demo = await startDemo(server.url);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  await shoot(browser, server.url, pagesOf(demo));
  console.log(`pictures are in ${folder}`);
} finally {
  await browser.close();
  await demo.close();
  await server.kill();
  await rm(data, { recursive: true });
}
