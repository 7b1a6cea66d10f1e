import { expect, test } from 'vitest';
import { type ContainerPlan, containerSpec } from './container-spec.ts';

const PLAN: ContainerPlan = {
  name: 't_1-1-a',
  agent: 'sluice-x',
  taskId: 't_1',
  attempt: 1,
  exec: { image: 'app:1' },
  work: '/w',
  io: '/io',
  imageWorkdir: '',
  network: 'none',
  user: undefined,
  limits: { pids: 50 },
  gpus: [],
  groupPath: undefined,
};

interface Spec {
  readonly WorkingDir: string;
  readonly Env: readonly string[];
  readonly HostConfig: Readonly<Record<string, unknown>>;
}

const specOf = (plan: Partial<ContainerPlan>) => containerSpec({ ...PLAN, ...plan }) as Spec;

test('a container gets no more than its limits, no rights, and no network', () => {
  const { HostConfig } = specOf({ limits: { cpu: 0.5, memoryMb: 64, pids: 50 } });

  expect(HostConfig).toMatchObject({
    NanoCpus: 500_000_000,
    Memory: 64 * 2 ** 20,
    MemorySwap: 64 * 2 ** 20,
    PidsLimit: 50,
    Privileged: false,
    SecurityOpt: ['no-new-privileges'],
    NetworkMode: 'none',
    Devices: [],
    DeviceRequests: [],
  });
});

test('limits that a task does not state are left to the engine', () => {
  const { HostConfig } = specOf({});

  expect(HostConfig).not.toHaveProperty('Memory');
  expect(HostConfig).not.toHaveProperty('NanoCpus');
});

test('it runs in the folder that the task, the image or the agent states, in this order', () => {
  const exec = { image: 'app:1', workdir: '/srv' };

  expect(specOf({}).WorkingDir).toBe('/sluice/work');
  expect(specOf({ imageWorkdir: '/app' }).WorkingDir).toBe('/app');
  expect(specOf({ imageWorkdir: '/app', exec }).WorkingDir).toBe('/srv');
});

test('variables of the agent cannot be replaced, and secrets are variables', () => {
  const env = { A: { secret: 'b' }, SLUICE_ATTEMPT: '9' };

  const { Env } = specOf({ exec: { image: 'app:1', env } });

  expect(Env).toContain('A=b');
  expect(Env).toContain('SLUICE_ATTEMPT=1');
  expect(Env).not.toContain('SLUICE_ATTEMPT=9');
});

test('mounts are folders of the host or volumes, beside its own folders', () => {
  const volumes = [
    { source: '/media', target: '/m', readOnly: true },
    { source: 'cache', target: '/c' },
  ];

  const { HostConfig } = specOf({ exec: { image: 'app:1', volumes } });

  expect(HostConfig.Mounts).toEqual([
    { Type: 'bind', Source: '/w', Target: '/sluice/work' },
    { Type: 'bind', Source: '/io', Target: '/sluice/io' },
    { Type: 'bind', Source: '/media', Target: '/m', ReadOnly: true },
    { Type: 'volume', Source: 'cache', Target: '/c', ReadOnly: false },
  ]);
});

test('GPUs are handed over by their indexes', () => {
  const { HostConfig } = specOf({ gpus: ['1', '3'] });

  expect(HostConfig.DeviceRequests).toEqual([
    { Driver: 'nvidia', DeviceIDs: ['1', '3'], Capabilities: [['gpu']] },
  ]);
});
