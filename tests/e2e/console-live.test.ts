/** A run that is watched from its start to its end, while the server restarts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { ServerProcess } from '../support/server-process.ts';

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
let browser: ConsoleBrowser;
/** Tasks of `gate` end when the test says so. */
const gates: (() => void)[] = [];

const gate = defineTask({
  type: 'gate',
  run: ({ n }: { n?: number }) =>
    new Promise<object>((resolve) => gates.push(() => resolve({ n }))),
});

const DEFINITION = {
  tasks: [
    { name: 'gate', taskReferenceName: 'first' },
    {
      taskReferenceName: 'each',
      type: 'FORK_JOIN_DYNAMIC',
      inputParameters: { forkTaskName: 'gate', forkTaskInputs: '${workflow.input.list}' },
    },
    { taskReferenceName: 'all', type: 'JOIN' },
    { taskReferenceName: 'approve', type: 'HUMAN' },
    { name: 'gate', taskReferenceName: 'last' },
  ],
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  server = await ServerProcess.startDev(folder);
  sluice = new Sluice({ url: server.url });
  await sluice.work([gate], { name: 'gatekeeper', handleSignals: false, stopGraceMs: 0 });
  browser = await ConsoleBrowser.start();
});

afterAll(async () => {
  for (const open of gates) open();
  await browser.close();
  await sluice.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function openGates(count: number): Promise<void> {
  await expect.poll(() => gates.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  for (const open of gates.splice(0, count)) open();
}

test('the graph follows the run through a restart of the server, and nothing is lost', async () => {
  const body = JSON.stringify({
    workflow: 'watched',
    definition: DEFINITION,
    input: { list: [{ n: 1 }, { n: 2 }, { n: 3 }] },
  });
  const started = await fetch(`${server.url}/v1/runs`, { method: 'POST', body });
  const { id } = (await started.json()) as { id: string };
  const { page, troubles } = await browser.open(`${server.url}`);
  await page.goto(`${server.url}/runs/${id}`);
  const step = (reference: string, kind: string, state: string) =>
    page.getByRole('button', { name: `${reference} ${kind}, ${state}` });

  await step('first', 'gate', 'running').waitFor();
  await openGates(1);
  await step('first', 'gate', 'succeeded').waitFor();
  await page.getByText('3 running').waitFor();
  const { port } = new URL(server.url);
  await server.kill();
  await page.getByText('The connection to the server is lost').waitFor();

  server = await ServerProcess.startDev(folder, {}, port);
  await page.getByText('The connection to the server is lost').waitFor({ state: 'detached' });
  await openGates(3);
  await page.getByRole('button', { name: 'Branches of each' }).click();
  await step('_gate_0', 'gate', 'succeeded').waitFor();
  await step('_gate_2', 'gate', 'succeeded').click();
  await page.getByRole('complementary', { name: 'Step _gate_2' }).waitFor();
  await page.getByRole('button', { name: 'Branches of each' }).click();
  await step('_gate_0', 'gate', 'succeeded').waitFor({ state: 'detached' });
  await step('approve', 'human', 'running').click();
  await page.getByRole('button', { name: 'Complete by hand' }).click();
  await page.getByRole('dialog').getByLabel('Output').fill('{"approved": true}');
  await page.getByRole('button', { name: 'Complete the step' }).click();
  await step('last', 'gate', 'running').waitFor();
  await openGates(1);

  await step('last', 'gate', 'succeeded').waitFor();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByRole('region', { name: 'Timeline of the steps' }).getByText('_gate_2').waitFor();
  await page.getByRole('button', { name: 'Restart' }).waitFor();
  expect(troubles).toEqual([]);
});

test('a fork of many branches opens in the graph, some at a time', async () => {
  const list = Array.from({ length: 30 }, (_, n) => ({ n }));
  const body = JSON.stringify({
    workflow: 'wide',
    definition: { tasks: DEFINITION.tasks.slice(1, 3) },
    input: { list },
  });
  const started = await fetch(`${server.url}/v1/runs`, { method: 'POST', body });
  const { id } = (await started.json()) as { id: string };
  const { page, troubles } = await browser.open(server.url);
  await page.goto(`${server.url}/runs/${id}`);
  await page.getByText('30 running').first().waitFor();

  await page.getByRole('button', { name: 'Branches of each' }).press('Enter');
  const branches = page.getByRole('button', { name: /^_gate_/ });
  await page.getByRole('button', { name: '18 more branches of each' }).waitFor();
  expect(await branches.count()).toBe(12);
  await page.getByRole('button', { name: '18 more branches of each' }).click();

  await expect.poll(() => branches.count(), { timeout: 60_000 }).toBe(30);
  await openGates(30);
  await page.getByText('30 succeeded').first().waitFor();
  expect(troubles).toEqual([]);
});

test('a failed run goes on from a step that is completed by hand', async () => {
  const body = JSON.stringify({
    workflow: 'failing',
    definition: { tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }] },
  });
  const started = await fetch(`${server.url}/v1/runs`, { method: 'POST', body });
  const { id } = (await started.json()) as { id: string };
  const { page, troubles } = await browser.open(server.url);
  await page.goto(`${server.url}/runs/${id}?step=ask`);
  await page.getByRole('button', { name: 'Fail', exact: true }).click();
  await page.getByLabel('Reason').fill('not today');
  await page.getByRole('button', { name: 'Fail the step' }).click();

  await page.getByText('not today').first().waitFor();
  await page.getByRole('button', { name: 'Complete by hand' }).click();
  await page.getByRole('button', { name: 'Complete the step' }).click();
  await page.getByRole('button', { name: 'ask human, succeeded' }).waitFor();
  await page.getByRole('button', { name: 'Rerun from here' }).waitFor();
  expect(troubles).toEqual([]);
});
