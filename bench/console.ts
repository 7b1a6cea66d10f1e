/**
 * How fast the console is in a real browser: `npm run bench:console`.
 *
 * The server has 100,000 tasks and a run of 1,000 steps. Frames are measured while a script
 * scrolls; on a screen of 60 Hz a frame takes 16.7 ms.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Sluice } from '@sluice/sdk';
import { type Browser, chromium, type Page } from 'playwright-core';
import { buildConsole } from '../scripts/build-console.ts';
import { ServerProcess } from '../tests/support/server-process.ts';

const TASKS = 100_000;
const PER_SUBMIT = 1000;
const STEPS = 1000;
const LOADED_MIN = 2000;

/** Runs in the browser: scrolls the element by 40 pixels per frame, and returns frame times. */
const SCROLL = `async (selector, axis) => {
  const element = document.querySelector(selector);
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < 180; frame++) {
    element.scrollBy(axis === 'x' ? 40 : 0, axis === 'y' ? 40 : 0);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  return times;
}`;

/** Runs in the browser: bytes on the wire, and the first paint. */
const LOADED = `(() => {
  const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
  const files = entries.filter(({ name }) => !name.includes('/v1/'));
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return { bytes: files.reduce((sum, each) => sum + each.transferSize, 0), paintMs: paint.startTime };
})()`;

function quantile(times: readonly number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)];
}

function say(name: string, text: string): void {
  console.log(`${name.padEnd(46)} ${text}`);
}

async function fill(url: string): Promise<string> {
  const sluice = new Sluice({ url });
  for (let first = 0; first < TASKS; first += PER_SUBMIT) {
    const inputs = Array.from({ length: PER_SUBMIT }, (_, n) => ({
      n: first + n,
      to: 'ada@example.com',
    }));
    await sluice.submitMany('send-mail', inputs);
  }
  const forkTasks = Array.from({ length: STEPS / 10 }, (_, branch) =>
    Array.from({ length: 10 }, (_step, place) => ({
      name: 'cut',
      taskReferenceName: `s${branch}-${place}`,
    })),
  );
  const fork = { taskReferenceName: 'fork', type: 'FORK_JOIN', forkTasks };
  const definition = { tasks: [fork, { taskReferenceName: 'join', type: 'JOIN' }] };
  const body = JSON.stringify({ workflow: 'wide', definition });
  const response = await fetch(`${url}/v1/runs`, { method: 'POST', body });
  await sluice.close();
  return ((await response.json()) as { id: string }).id;
}

async function frames(page: Page, name: string, selector: string, axis: 'x' | 'y'): Promise<void> {
  const call = `(${SCROLL})(${JSON.stringify(selector)}, ${JSON.stringify(axis)})`;
  const times = await page.evaluate<number[]>(call);
  say(
    name,
    `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms per frame`,
  );
}

async function firstPage(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  const begunAt = performance.now();
  await page.goto(url);
  await page.getByText('ready in queues').waitFor();
  const shownMs = performance.now() - begunAt;
  // The browser notes it a moment after it has painted.
  await page.waitForFunction("performance.getEntriesByType('paint').length > 0");
  const { bytes, paintMs } = await page.evaluate<{ bytes: number; paintMs: number }>(LOADED);
  say('first page, compressed', `${(bytes / 1024).toFixed(0)} KiB`);
  say('first paint', `${paintMs.toFixed(0)} ms`);
  say('overview with its figures, usable', `${shownMs.toFixed(0)} ms`);
  await page.close();
}

async function longTable(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  await page.goto(`${url}/tasks`);
  const loaded = page.getByText(/ tasks loaded/);
  await loaded.waitFor();
  for (let count = 0; count < LOADED_MIN; ) {
    await page.evaluate("document.querySelector('.tall').scrollTo(0, 1e9)");
    await page.waitForTimeout(50);
    count = Number((await loaded.innerText()).replace(/\D/g, ''));
  }
  await page.evaluate("document.querySelector('.tall').scrollTo(0, 0)");
  await frames(page, `scrolling ${LOADED_MIN} of ${TASKS} tasks`, '.tall', 'y');
  await page.close();
}

async function largeRun(browser: Browser, url: string, run: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  const begunAt = performance.now();
  await page.goto(`${url}/runs/${run}`);
  await page.locator('.graph-node').nth(20).waitFor({ state: 'attached' });
  say(`graph of ${STEPS} steps, drawn`, `${(performance.now() - begunAt).toFixed(0)} ms`);
  await frames(page, `panning a graph of ${STEPS} steps`, '.graph-frame', 'x');
  await page.close();
}

await buildConsole();
const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'));
const server = await ServerProcess.startDev(folder);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const run = await fill(server.url);
  await firstPage(browser, server.url);
  await longTable(browser, server.url);
  await largeRun(browser, server.url, run);
} finally {
  await browser.close();
  await server.kill();
  await rm(folder, { recursive: true });
}
