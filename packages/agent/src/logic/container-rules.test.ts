import { expect, test } from 'vitest';
import { type ContainerRules, containerProblem } from './container-rules.ts';

const NONE: ContainerRules = {
  allowPrivileged: false,
  allowHostNetwork: false,
  mounts: [],
  devices: [],
};

const volumesAt = (...sources: string[]) => ({
  image: 'a',
  volumes: sources.map((source) => ({ source, target: '/t' })),
});

test.each([
  [{ privileged: true }, '--allow-privileged'],
  [{ network: 'host' }, '--allow-host-network'],
  [volumesAt('/media'), '--allow-mount'],
  [{ devices: ['/dev/fuse'] }, '--allow-device'],
])('%j is refused, and the message names the flag', (fields, flag) => {
  expect(containerProblem({ image: 'a', ...fields }, NONE)).toContain(flag);
});

test('what the agent allows may run', () => {
  const rules = {
    allowPrivileged: true,
    allowHostNetwork: true,
    mounts: ['/media'],
    devices: ['/dev/fuse'],
  };
  const rights = { privileged: true, network: 'host', devices: ['/dev/fuse'] };

  expect(containerProblem({ ...volumesAt('/media', '/media/in'), ...rights }, rules)).toBe(
    undefined,
  );
});

test('a folder is below another only by whole names', () => {
  const rules = { ...NONE, mounts: ['/media'] };

  expect(containerProblem(volumesAt('/media-2'), rules)).toContain('/media-2');
  expect(containerProblem(volumesAt('/'), rules)).toContain('does not mount /');
  expect(containerProblem(volumesAt('/x'), { ...NONE, mounts: ['/'] })).toBeUndefined();
});

test('volumes of the engine are no folders of the host', () => {
  expect(containerProblem(volumesAt('cache'), NONE)).toBeUndefined();
});
