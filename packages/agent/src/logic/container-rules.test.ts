import { expect, test } from 'vitest';
import { type ContainerRules, containerProblem, hostMounts } from './container-rules.ts';

const NONE: ContainerRules = {
  allowPrivileged: false,
  allowHostNetwork: false,
  mounts: [],
  devices: [],
};

test.each([
  [{ privileged: true }, [], '--allow-privileged'],
  [{ network: 'host' }, [], '--allow-host-network'],
  [{}, ['/media'], '--allow-mount'],
  [{ devices: ['/dev/fuse'] }, [], '--allow-device'],
])('%j is refused, and the message names the flag', (fields, folders, flag) => {
  expect(containerProblem({ image: 'a', ...fields }, folders, NONE)).toContain(flag);
});

test('what the agent allows may run', () => {
  const rules = {
    allowPrivileged: true,
    allowHostNetwork: true,
    mounts: ['/media'],
    devices: ['/dev/fuse'],
  };
  const exec = { image: 'a', privileged: true, network: 'host', devices: ['/dev/fuse'] };

  expect(containerProblem(exec, ['/media', '/media/in'], rules)).toBeUndefined();
});

test('a folder is below another only by whole names', () => {
  const rules = { ...NONE, mounts: ['/media'] };

  expect(containerProblem({ image: 'a' }, ['/media-2'], rules)).toContain('/media-2');
  expect(containerProblem({ image: 'a' }, ['/'], rules)).toContain('does not mount /');
  expect(containerProblem({ image: 'a' }, ['/x'], { ...NONE, mounts: ['/'] })).toBeUndefined();
});

test('volumes of the engine are no folders of the host', () => {
  const volumes = [
    { source: 'cache', target: '/c' },
    { source: '/media', target: '/m' },
  ];

  expect(hostMounts({ image: 'a', volumes })).toEqual(['/media']);
});
