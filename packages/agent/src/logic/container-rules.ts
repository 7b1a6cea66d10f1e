import type { ContainerExec } from '@sluice/protocol';

/** What an agent lets containers do beyond the usual. */
export interface ContainerRules {
  readonly allowPrivileged: boolean;
  readonly allowHostNetwork: boolean;
  /** Folders of the host that may be mounted, with everything below them. */
  readonly mounts: readonly string[];
  /** Devices of the host that may be used. */
  readonly devices: readonly string[];
}

/**
 * Why this container may not run; undefined when it may. The links in its folders have to be
 * followed before, because a link could lead out of a folder that is allowed.
 */
export function containerProblem(exec: ContainerExec, rules: ContainerRules): string | undefined {
  if (exec.privileged === true && !rules.allowPrivileged) {
    return 'the agent runs no privileged containers; see --allow-privileged';
  }
  if (exec.network === 'host' && !rules.allowHostNetwork) {
    return 'the agent gives no container the network of the host; see --allow-host-network';
  }
  // Other sources are volumes of the engine.
  const folders = (exec.volumes ?? [])
    .map(({ source }) => source)
    .filter((source) => source.startsWith('/'));
  const folder = folders.find((path) => !rules.mounts.some((allowed) => isBelow(path, allowed)));
  if (folder !== undefined) {
    return `the agent does not mount ${folder} of the host; see --allow-mount`;
  }
  const device = exec.devices?.find((path) => !rules.devices.includes(path));
  if (device !== undefined) {
    return `the agent gives no container the device ${device}; see --allow-device`;
  }
  return undefined;
}

function isBelow(path: string, folder: string): boolean {
  const whole = folder.endsWith('/') ? folder : `${folder}/`;
  return path === folder || path.startsWith(whole);
}
