import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROUTES } from '@sluice/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { installKubernetesValidate, validateManifest } from '../support/kubernetes-validate.ts';
import { runSluice } from '../support/sluice-command.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const COMPOSE = join(DEPLOY, 'docker/compose-cluster.yaml');
const MANIFESTS = join(DEPLOY, 'kubernetes');

const execute = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  await installKubernetesValidate();
}, 240_000);

afterAll(() => rm(folder, { recursive: true }));

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period: string;
  readonly networks: { readonly default: { readonly aliases: readonly string[] } };
}

/** The file as Compose understands it; rejects with what is wrong. */
async function composed(file: string, variables: object): Promise<Record<string, Service>> {
  const args = ['--file', file, '--project-directory', folder, 'config'];
  const { stdout } = await execute('docker-compose', args, {
    env: { PATH: process.env.PATH, ...variables },
  });
  return parse(stdout).services as Record<string, Service>;
}

async function drainSeconds(): Promise<number> {
  const { stdout } = await runSluice(['server', '--print-config']);
  const [, drainMs] = /^drainMs: (\d+)/m.exec(stdout) ?? [];
  // The server closes its files within two seconds after that.
  return Number(drainMs) / 1000 + 2;
}

test('Compose finds no problem in the file for a cluster', async () => {
  const services = await composed(COMPOSE, { POSTGRES_PASSWORD: 'word' });

  expect(Object.keys(services)).toEqual(['agent', 'init', 'postgres', 'sluice-1', 'sluice-2']);
  for (const name of ['sluice-1', 'sluice-2']) {
    const { environment, networks, stop_grace_period } = services[name];
    expect(environment.SLUICE_STORE).toBe('postgres://sluice:word@postgres:5432/sluice');
    expect(environment.SLUICE_ADVERTISE).toBe(`https://${name}:7420`);
    expect(environment.SLUICE_ALLOWED_HOSTS.split(',')).toContain(name);
    expect(networks.default.aliases).toEqual(['sluice']);
    expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(await drainSeconds());
  }
});

test('Compose says what is wrong, and asks for the password', async () => {
  const text = await readFile(COMPOSE, 'utf8');
  const wrong = join(folder, 'wrong.yaml');
  await writeFile(wrong, text.replace('mem_limit: 2g', 'memory_limit: 2g'));

  const unknown = composed(wrong, { POSTGRES_PASSWORD: 'word' });

  await expect(unknown).rejects.toThrow(/memory_limit/);
  await expect(composed(COMPOSE, {})).rejects.toThrow(/set it in \.env/);
});

test('the manifests are right for Kubernetes, and a wrong one is refused', async () => {
  const names = await readdir(MANIFESTS);
  const texts = await Promise.all(names.map((name) => readFile(join(MANIFESTS, name), 'utf8')));

  const checked = await Promise.all(names.map((name) => validateManifest(join(MANIFESTS, name))));

  const resources = texts.flatMap((text) => text.match(/^kind: /gm) ?? []);
  expect(resources.length).toBeGreaterThan(7);
  expect(checked.join('').match(/ passed /g)).toHaveLength(resources.length);
  const wrong = join(folder, 'wrong.yaml');
  const servers = await readFile(join(MANIFESTS, 'servers.yaml'), 'utf8');
  await writeFile(wrong, servers.replace('replicas: 2', 'replicas: two'));
  await expect(validateManifest(wrong)).rejects.toThrow();
  await writeFile(wrong, servers.replace('readinessProbe', 'readyProbe'));
  await expect(validateManifest(wrong)).rejects.toThrow();
});

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: object };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly startupProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: string[] } } };
}

interface Pods {
  readonly kind: string;
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly Container[];
      };
    };
  };
}

/** The resources of a file that run containers. */
async function podsIn(name: string): Promise<Pods[]> {
  const documents = parseAllDocuments(await readFile(join(MANIFESTS, name), 'utf8'));
  const resources = documents.map((each) => each.toJS() as Pods);
  return resources.filter(({ kind }) => ['Deployment', 'Job', 'StatefulSet'].includes(kind));
}

test('the password of the database is in a secret and nowhere else', async () => {
  for (const name of ['servers.yaml', 'cluster-init.yaml']) {
    const [{ spec }] = await podsIn(name);
    const [{ args, env }] = spec.template.spec.containers;
    const store = env.find((variable) => variable.name === 'SLUICE_STORE');

    expect(store).toMatchObject({ valueFrom: { secretKeyRef: { name: 'sluice-store' } } });
    expect(store).not.toHaveProperty('value');
    expect(args.join(' ')).not.toContain('store');
  }
});

test('Kubernetes asks probes that exist, and waits until a server has stopped', async () => {
  const [{ spec }] = await podsIn('servers.yaml');
  const { terminationGracePeriodSeconds, containers } = spec.template.spec;
  const [{ readinessProbe, livenessProbe, startupProbe, lifecycle }] = containers;

  expect(spec.replicas).toBe(2);
  expect(readinessProbe.httpGet.path).toBe(ROUTES.healthReady.path);
  expect(livenessProbe.httpGet.path).toBe(ROUTES.healthLive.path);
  expect(startupProbe.httpGet.path).toBe(ROUTES.healthLive.path);
  const [, pause] = lifecycle.preStop.exec.command;
  const longest = Number(pause) + (await drainSeconds());
  expect(terminationGracePeriodSeconds).toBeGreaterThan(longest);
});
