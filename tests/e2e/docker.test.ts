/**
 * Builds the image of deploy/docker without a network, and runs it as the Compose file says, in a
 * real Docker engine.
 */
import { chown, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { parse } from 'yaml';
import { makeCertificate } from '../support/certificates.ts';
import { DockerEngine } from '../support/docker-engine.ts';
import { engineTest as test } from '../support/engine-tests.ts';
import { PackedProject, packPackages } from '../support/packed-project.ts';
import { waitUntil } from '../support/wait-until.ts';

const IMAGE = 'sluice:test';
const USER = 10_001;
const HEALTH_CHECK = '/opt/sluice/node_modules/sluice/deploy/docker/health-check.mjs';

let folder: string;
let docker: DockerEngine;
/** The folder in which a user installed the package. */
let project: PackedProject;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-docker-'));
  const install = async () => {
    const { sluice } = await packPackages(join(folder, 'packed'));
    return PackedProject.install(join(folder, 'project'), sluice, '--omit=dev');
  };
  const startEngine = async () => {
    docker = await DockerEngine.start(join(folder, 'engine'));
    await docker.makeBaseImage('base:test');
  };
  [project] = await Promise.all([install(), startEngine()]);
  const file = join(project.folder, 'node_modules/sluice/deploy/docker/Dockerfile');
  const base = ['--network', 'none', '--build-arg', 'BASE=base:test'];
  await docker.run('build', ...base, '--tag', IMAGE, '--file', file, project.folder);
}, 300_000);

afterAll(async () => {
  await docker?.stop();
  await rm(folder, { recursive: true });
}, 60_000);

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly mem_limit: string;
  readonly read_only: boolean;
  readonly stop_grace_period: string;
  readonly command: readonly string[];
}

async function readService(): Promise<Service> {
  const file = join(project.folder, 'node_modules/sluice/deploy/docker/compose.yaml');
  const { services } = parse(await readFile(file, 'utf8'));
  return services.sluice as Service;
}

/** What `docker compose up` passes on to the engine, without ports: there is no network here. */
function runFlags(service: Service): string[] {
  const variables = Object.entries(service.environment).map(([name, value]) => `${name}=${value}`);
  const volumes = service.volumes.map((each) => each.replace(/^\.\//, `${project.folder}/`));
  return [
    ...variables.flatMap((each) => ['--env', each]),
    ...volumes.flatMap((each) => ['--volume', each]),
    ...service.cap_drop.flatMap((each) => ['--cap-drop', each]),
    ...service.security_opt.flatMap((each) => ['--security-opt', each]),
    ...(service.read_only ? ['--read-only'] : []),
    ...['--memory', service.mem_limit, '--network', 'none'],
    ...['--stop-timeout', `${Number.parseInt(service.stop_grace_period, 10)}`],
  ];
}

/** Starts the server in a container, and resolves when Docker says that it is healthy. */
async function startServer(name: string): Promise<void> {
  const service = await readService();
  const named = ['--name', name, '--health-interval', '1s'];
  await docker.run('run', '--detach', ...named, ...runFlags(service), IMAGE, ...service.command);
  const isHealthy = async () => {
    const state = JSON.parse(await docker.run('inspect', '--format', '{{json .State}}', name));
    if (!state.Running) throw new Error(`it ended: ${await docker.run('logs', name)}`);
    return state.Health.Status === 'healthy';
  };
  await waitUntil(isHealthy, { what: `${name} is healthy`, timeoutMs: 60_000 });
}

async function sluice(container: string, key: string, ...args: string[]): Promise<string> {
  const env = {
    SLUICE_URL: 'https://localhost:7420',
    SLUICE_API_KEY: key,
    NODE_EXTRA_CA_CERTS: '/tls/sluice.crt',
  };
  const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  return docker.run('exec', ...variables, container, 'sluice', ...args);
}

async function makeTlsFiles(): Promise<void> {
  const tls = join(project.folder, 'tls');
  await mkdir(tls);
  const { certFile, keyFile } = makeCertificate(tls, 'server');
  await rename(certFile, join(tls, 'sluice.crt'));
  await rename(keyFile, join(tls, 'sluice.key'));
  await chown(join(tls, 'sluice.key'), USER, USER);
}

test('a container serves, stops in time, and the next one has its tasks', async () => {
  await makeTlsFiles();
  const flags = runFlags(await readService());
  const create = ['key', 'create', '--role', 'admin', '--data', '/data'];
  const created = await docker.run('run', '--rm', ...flags, IMAGE, ...create);
  const [key = ''] = /slk_\w+/.exec(created) ?? [];

  await startServer('first');
  await sluice('first', key, 'task', 'submit', 'mail');
  await docker.run('stop', 'first');
  const state = JSON.parse(await docker.run('inspect', '--format', '{{json .State}}', 'first'));
  await startServer('second');
  const listed = await sluice('second', key, 'task', 'list');

  expect(state).toMatchObject({ ExitCode: 0, OOMKilled: false });
  expect(listed).toMatch(/^t_\w+ +mail +queued/m);
  await expectFewRights('second');
});

async function expectFewRights(container: string): Promise<void> {
  expect(await docker.run('exec', container, 'id', '-u')).toBe(`${USER}`);
  await expect(docker.run('exec', container, 'touch', '/opt/x')).rejects.toThrow('Read-only');
  const mayReadData = docker.run('exec', '--user', '1000', container, 'touch', '/data/x');
  await expect(mayReadData).rejects.toThrow('Permission denied');
}

test('a container without a server is not healthy', async () => {
  const command = ['--entrypoint', 'node', IMAGE, HEALTH_CHECK];

  const refused = docker.run('run', '--rm', '--network', 'none', ...command);

  await expect(refused).rejects.toMatchObject({ code: 1, stderr: '' });
});

test('the Compose file has nothing that this test does not use', async () => {
  const known = ['environment', 'volumes', 'cap_drop', 'security_opt', 'mem_limit', 'read_only'];
  const others = ['stop_grace_period', 'command'];
  // These are for Compose itself.
  const compose = ['image', 'build', 'ports', 'restart'];

  expect(Object.keys(await readService()).sort()).toEqual([...known, ...others, ...compose].sort());
});
