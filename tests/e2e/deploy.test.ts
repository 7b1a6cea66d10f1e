import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMetrics } from '../support/metrics-text.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

const execute = promisify(execFile);

let folder: string;
let server: ServerProcess;
/** The page of a server that has a task. */
let page: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await cp(join(DEPLOY, 'prometheus'), folder, { recursive: true });
  server = await ServerProcess.startServer(join(folder, 'data'));
  const api = new ApiClient(server.url, 'http1');
  await api.post('/v1/tasks', { type: 'mail' });
  page = await (await fetch(`${server.url}/metrics`)).text();
  api.close();
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Runs promtool in the copy of the folder; rejects with its output when it finds a problem. */
async function promtool(...args: string[]): Promise<string> {
  const { stdout } = await execute('promtool', args, { cwd: folder });
  return stdout;
}

function readDeployed(path: string): Promise<string> {
  return readFile(join(DEPLOY, path), 'utf8');
}

/** Names of metrics in a text that the server does not serve. */
function unknownMetrics(text: string, served: string): string[] {
  const samples = [...parseMetrics(served).values()].flatMap((family) => family.samples);
  const known = new Set(samples.map(({ name }) => name));
  const named = text.match(/\bsluice_[a-z_]+/g) ?? [];
  return [...new Set(named)].filter((name) => !known.has(name));
}

test('promtool finds no problem in the rules and in the scrape example', async () => {
  await writeFile(join(folder, 'sluice.key'), 'slk_x');
  await writeFile(join(folder, 'sluice.crt'), '');

  const config = await promtool('check', 'config', 'prometheus.yaml');

  expect(config).toContain('1 rule files found');
  await writeFile(join(folder, 'bad.yaml'), 'groups: [{ name: a, rules: [{ alert: B }] }]');
  await expect(promtool('check', 'rules', 'bad.yaml')).rejects.toThrow();
});

test('each alert fires when it should and not otherwise', async () => {
  const rules = await readDeployed('prometheus/alerts.yaml');
  const examples = await readDeployed('prometheus/alerts.test.yaml');
  const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name);

  await promtool('test', 'rules', 'alerts.test.yaml');

  expect(alerts.length).toBeGreaterThan(10);
  const shown = Array.from(examples.matchAll(/- name: (.+)/g), ([, name]) => name);
  expect(shown).toEqual(alerts.flatMap((name) => [`${name} fires`, `${name} does not fire`]));
  await writeFile(join(folder, 'alerts.yaml'), rules.replace('> 600', '> 6000'));
  await expect(promtool('test', 'rules', 'alerts.test.yaml')).rejects.toThrow();
});

test('promtool reads what the server serves', async () => {
  const check = (text: string) => {
    return execFileSync('promtool', ['check', 'metrics'], { input: text, stdio: 'pipe' });
  };

  expect(() => check(page)).not.toThrow();
  expect(() => check(`${page}sluice_info{`)).toThrow();
});

test('the dashboard and the rules name only metrics that are served', async () => {
  const dashboard = await readDeployed('grafana/sluice.json');
  const rules = await readDeployed('prometheus/alerts.yaml');

  expect(dashboard).toContain('sluice_type_queued');
  expect(unknownMetrics(dashboard, page)).toEqual([]);
  expect(unknownMetrics(rules, page)).toEqual([]);
  expect(unknownMetrics('rate(sluice_tasks_lost_total[5m])', page)).toEqual([
    'sluice_tasks_lost_total',
  ]);
});

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string }[];
}

async function readPanels(): Promise<readonly Panel[]> {
  return (JSON.parse(await readDeployed('grafana/sluice.json')) as { panels: Panel[] }).panels;
}

/** Has promtool parse queries, with a value for each of Grafana's variables. */
async function checkQueries(queries: readonly string[]): Promise<string> {
  const rules = queries.map((query, nth) => {
    const expr = query.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, 'any');
    return { record: `panel:query${nth}`, expr };
  });
  // Every JSON document is a YAML document.
  const file = join(folder, 'queries.yaml');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  return promtool('check', 'rules', file);
}

test('promtool reads the queries of the dashboard', async () => {
  const panels = await readPanels();
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  const checked = await checkQueries(queries);

  expect(checked).toContain(`${queries.length} rules found`);
  await expect(checkQueries(['sum by (type (sluice_type_queued)'])).rejects.toThrow();
});

test('the panels of the dashboard have ids, places and queries of their own', async () => {
  const panels = await readPanels();

  expect(panels.length).toBeGreaterThan(20);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const places = panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`);
  expect(new Set(places).size).toBe(panels.length);
  expect(panels.filter(({ type, targets }) => type !== 'row' && !targets?.length)).toEqual([]);
});
