import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@sluice/postgres/testing/free-port';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { ServerProcess } from '../support/server-process.ts';
import { runSluice } from '../support/sluice-command.ts';
import { waitUntil } from '../support/wait-until.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');

let folder: string;
let server: ServerProcess;
let prometheus: ChildProcess | undefined;
let prometheusUrl: string;

/** A server with keys and TLS, and a Prometheus that scrapes it as the example says. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await cp(join(DEPLOY, 'prometheus'), folder, { recursive: true });
  const { certFile, keyFile } = makeCertificate(folder, 'server');
  await copyFile(certFile, join(folder, 'sluice.crt'));
  const data = join(folder, 'data');
  const admin = await newKey(['--role', 'admin', '--data', data]);
  const tls = ['--tls-cert-file', certFile, '--tls-key-file', keyFile];
  server = await ServerProcess.startServer(data, ...tls);
  const env = { SLUICE_URL: server.url, SLUICE_API_KEY: admin, NODE_EXTRA_CA_CERTS: certFile };
  await writeFile(join(folder, 'sluice.key'), await newKey(['--role', 'viewer'], env));
  await runSluice(['task', 'submit', 'mail'], env);
  await startPrometheus();
});

afterAll(async () => {
  if (prometheus !== undefined) {
    prometheus.kill();
    await once(prometheus, 'exit');
  }
  await server.kill();
  await rm(folder, { recursive: true });
});

async function newKey(flags: readonly string[], env = {}): Promise<string> {
  const { stdout, stderr } = await runSluice(['key', 'create', ...flags], env);
  const key = /slk_\w+/.exec(stdout);
  if (key === null) throw new Error(`no key was created: ${stdout}${stderr}`);
  return key[0];
}

async function startPrometheus(): Promise<void> {
  const file = join(folder, 'prometheus.yaml');
  const example = await readFile(file, 'utf8');
  const { host } = new URL(server.url);
  const changed = example.replaceAll('15s', '1s').replace('sluice.example:7420', host);
  await writeFile(file, changed);
  const address = `127.0.0.1:${await freePort()}`;
  prometheusUrl = `http://${address}`;
  const storage = `--storage.tsdb.path=${join(folder, 'series')}`;
  const args = [`--config.file=${file}`, storage, `--web.listen-address=${address}`];
  prometheus = spawn('prometheus', args, { stdio: 'ignore' });
}

interface Answer {
  readonly status: string;
  readonly data: {
    readonly result: readonly { readonly value: readonly [number, string] }[];
    readonly groups: readonly { readonly rules: readonly { name: string; health: string }[] }[];
  };
}

async function ask(path: string, parameters: Record<string, string> = {}): Promise<Answer> {
  const query = new URLSearchParams(parameters);
  const response = await fetch(`${prometheusUrl}/api/v1/${path}?${query}`);
  return (await response.json()) as Answer;
}

async function sampleOf(query: string): Promise<string | undefined> {
  return (await ask('query', { query })).data.result.at(0)?.value[1];
}

test('Prometheus scrapes a server with a key and TLS, as the example says', async () => {
  // Until it listens, requests fail.
  const isScraped = () => sampleOf('up{job="sluice"} == 1').then(Boolean, () => false);

  await waitUntil(isScraped, { what: 'the server is scraped', timeoutMs: 30_000 });

  expect(await sampleOf('sum(sluice_type_queued{type="mail"})')).toBe('1');
});

test('Prometheus evaluates all rules', async () => {
  const rules = async () => (await ask('rules')).data.groups.flatMap((group) => group.rules);
  const isEvaluated = async () => (await rules()).every(({ health }) => health !== 'unknown');

  await waitUntil(isEvaluated, { what: 'the rules are evaluated', timeoutMs: 30_000 });

  expect((await rules()).length).toBeGreaterThan(10);
  expect((await rules()).filter(({ health }) => health !== 'ok')).toEqual([]);
});

test('Prometheus answers the queries of the dashboard', async () => {
  const text = await readFile(join(DEPLOY, 'grafana/sluice.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { targets?: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  const asked = queries.map((expr) => expr.replaceAll('$__rate_interval', '1m'));
  const answers = await Promise.all(
    asked.map((query) => ask('query', { query: query.replace(/\$\w+/g, '.*') })),
  );

  expect(answers.length).toBeGreaterThan(20);
  expect(answers.filter(({ status }) => status !== 'success')).toEqual([]);
});
